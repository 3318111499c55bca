import { describe, expect, it } from "vitest";
import { priceAnswer, priceStream, seenInHeaders, withUsage } from "./response.js";

const CALL = { "x-litellm-call-id": "unit" };

describe("the price of an answer", () => {
  it.each<[string, number, Record<string, string>, string]>([
    ["a plain answer", 200, { ...CALL, "x-litellm-response-cost": "2.1e-05" }, "21000000 response_header"],
    ["float noise", 200, { "x-litellm-response-cost": "1.4999999999999999e-05" }, "15000000 response_header"],
    ["a free model", 200, { "x-litellm-response-cost": "0.0" }, "0 response_header"],
    ["an unpriced model", 200, { ...CALL, "x-litellm-response-cost-original": "0.0" }, "unpriced"],
    ["nonsense", 200, { "x-litellm-response-cost": "None" }, "unpriced"],
    ["a price below zero", 200, { "x-litellm-response-cost": "-1" }, "unpriced"],
    [
      "a cache hit, which shows the full price",
      200,
      { "x-litellm-cache-key": "k", "x-litellm-response-cost": "1.7e-05" },
      "0 cache_hit",
    ],
    ["a provider's error", 500, { ...CALL, "x-litellm-response-cost": "0" }, "0 refused"],
    ["a provider's limit", 429, { ...CALL, "x-litellm-response-cost": "0" }, "0 refused"],
    ["an unknown model", 400, { ...CALL, "x-litellm-response-cost": "0" }, "0 refused"],
    ["a bad key", 401, {}, "0 refused"],
    ["a model that the key may not use", 403, {}, "0 refused"],
    ["a key over its budget", 422, {}, "0 refused"],
    ["a path that LiteLLM does not have", 404, {}, "0 refused"],
    ["a 401 from behind the call id", 401, CALL, "http_error"],
    ["an error with a cost", 500, { ...CALL, "x-litellm-response-cost": "0.5" }, "http_error"],
    ["an error of something between us and LiteLLM", 502, {}, "http_error"],
    ["an error without a word on its cost", 500, CALL, "http_error"],
  ])("of %s", (_, status, headers, expected) => {
    const verdict = priceAnswer(status, new Headers(headers));
    expect(verdict.kind === "priced" ? `${verdict.amount} ${verdict.evidence}` : verdict.reason).toBe(
      expected,
    );
  });

  it("of a stream is in its last usage, unless it is a cache hit", () => {
    expect(priceStream({ cost: 0.000017 }, new Headers())).toEqual({
      kind: "priced",
      amount: 17_000_000n,
      evidence: "last_event",
    });
    expect(priceStream({ cost: 0.000017 }, new Headers({ "x-litellm-cache-key": "k" }))).toMatchObject({
      amount: 0n,
    });
    expect(priceStream({ prompt_tokens: 1 }, new Headers())).toEqual({ kind: "doubt", reason: "unpriced" });
    expect(priceStream(undefined, new Headers())).toEqual({ kind: "doubt", reason: "unpriced" });
  });
});

it("reads tokens by either API's names, and counts only whole ones", () => {
  const seen = seenInHeaders(
    new Headers({
      "x-litellm-model-group": "dear",
      "x-litellm-attempted-retries": "2",
      "x-litellm-attempted-fallbacks": "x",
    }),
  );
  expect(seen).toMatchObject({ servedModel: "dear", retries: 2, fallbacks: 0 });
  expect(withUsage(seen, "r", { prompt_tokens: 11, completion_tokens: 3 })).toMatchObject({
    inputTokens: 11,
    outputTokens: 3,
  });
  expect(withUsage(seen, "r", { input_tokens: 11, output_tokens: -3 })).toMatchObject({
    inputTokens: 11,
    outputTokens: 0,
  });
});
