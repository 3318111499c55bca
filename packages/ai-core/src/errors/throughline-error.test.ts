import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ERROR_CODES, type ErrorCode, httpStatusOf, isErrorCode } from "./error-codes.js";
import { invalidInput, ThroughlineError, toWireError, wireErrorSchema } from "./throughline-error.js";

const codes = Object.keys(ERROR_CODES).filter(isErrorCode);

describe("error codes", () => {
  it("gives every code a status a client library understands and a sentence to act on", () => {
    for (const code of codes) {
      expect(httpStatusOf(code)).toBeGreaterThanOrEqual(400);
      expect(ERROR_CODES[code].hint).toMatch(/\w{3}.*[.]$/);
    }
  });

  it.each<[ErrorCode, number]>([
    ["invalid_input", 400],
    ["model_not_allowed", 400],
    ["unauthorized", 401],
    ["budget_exceeded", 402],
    ["forbidden", 403],
    ["not_found", 404],
    ["method_not_allowed", 405],
    ["busy", 409],
    ["conflict", 409],
    ["graph_changed", 409],
    ["interrupt_pending", 409],
    ["too_large", 413],
    ["answer_mismatch", 422],
    ["rate_limited", 429],
    ["internal", 500],
    ["upstream_unavailable", 502],
    ["store_unavailable", 503],
    ["models_unavailable", 503],
    ["shutting_down", 503],
  ])("answers %s with %i", (code, status) => {
    expect(new ThroughlineError(code, "…").status).toBe(status);
  });
});

describe("toWireError", () => {
  it("carries code, message, hint and details, in the schema's own shape", () => {
    const wire = toWireError(
      new ThroughlineError("busy", "A run is active.", { details: { runId: "r1", retryAfterMs: 500 } }),
    );
    expect(wireErrorSchema.parse(wire)).toEqual({
      code: "busy",
      message: "A run is active.",
      hint: ERROR_CODES.busy.hint,
      details: { runId: "r1", retryAfterMs: 500 },
    });
  });

  it("never lets a foreign message or a cause through", () => {
    const secret = "sk-live-123";
    for (const error of [
      new Error(secret),
      secret,
      { message: secret },
      new ThroughlineError("internal", "Failed.", { cause: new Error(secret) }),
    ]) {
      expect(JSON.stringify(toWireError(error))).not.toContain(secret);
    }
  });
});

describe("invalidInput", () => {
  it("names the offending field by its path", () => {
    const result = z.object({ a: z.object({ b: z.number() }) }).safeParse({ a: { b: "x" } });
    expect(result.error && invalidInput(result.error).details).toEqual({ field: "a.b" });
  });
});
