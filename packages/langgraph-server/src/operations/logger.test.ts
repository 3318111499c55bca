import { StoreOutage, ThroughlineError } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createLogger, type Logger, type LoggerOptions } from "./logging.js";

function logged(level: LoggerOptions["level"], write: (logger: Logger) => void) {
  const lines: string[] = [];
  write(createLogger({ level, destination: { write: (line: string) => void lines.push(line) } }));
  expect(lines).toHaveLength(1);
  return { text: lines.join(""), line: JSON.parse(lines.join("")) };
}
const errorOf = (error: unknown, level: LoggerOptions["level"] = "info") =>
  logged(level, (logger) => logger.error({ err: error }, "failed")).line.err;

/** As `pg` throws it. */
const violated = Object.assign(new Error('duplicate key value violates unique constraint "runs_alias"'), {
  code: "23505",
  detail: "Key (alias)=(my-private-alias) already exists.",
  where: "SQL statement my-private-statement",
  table: "runs",
});

describe("an error in a log line", () => {
  it("of ours is whole at every level, with the causes behind it", () => {
    const error = new ThroughlineError("rate_limited", "maxCrons: this account has 100 crons already.", {
      details: { limit: "maxCrons", max: 100 },
      cause: new StoreOutage(Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" })),
    });
    expect(errorOf(error)).toEqual({
      type: "ThroughlineError",
      code: "rate_limited",
      message: "maxCrons: this account has 100 crons already.",
      details: { limit: "maxCrons", max: 100 },
      stack: expect.stringContaining("logger.test.ts"),
      cause: expect.objectContaining({
        code: "store_unavailable",
        cause: { type: "Error", code: "ECONNREFUSED", message: "connect ECONNREFUSED" },
      }),
    });
  });

  it("of PostgreSQL has its code and message, and never the data of its other fields", () => {
    expect(errorOf(violated)).toEqual({
      type: "Error",
      code: "23505",
      message: 'duplicate key value violates unique constraint "runs_alias"',
    });
    expect(JSON.stringify(errorOf(violated, "debug"))).not.toContain("my-private");
  });

  it("of others is scrubbed, and has a stack at debug only", () => {
    const error = new TypeError("No access with Bearer my-private-token\n    at my-private-frame (x:1:1)");
    expect(errorOf(error)).toEqual({ type: "TypeError", message: "No access with Bearer [secret]" });
    const { stack } = errorOf(error, "debug");
    expect(stack).toMatch(/^TypeError: No access with Bearer \[secret\]\n {4}at .*logger\.test\.ts/);
    expect(stack).not.toContain("my-private");
  });

  it("that was tried at several addresses shows why each of them failed", () => {
    const refused = (host: string) =>
      Object.assign(new Error(`connect ECONNREFUSED ${host}:5432`), { code: "ECONNREFUSED" });
    expect(errorOf(new AggregateError([refused("::1"), refused("127.0.0.1")])).errors).toEqual([
      { type: "Error", code: "ECONNREFUSED", message: "connect ECONNREFUSED ::1:5432" },
      { type: "Error", code: "ECONNREFUSED", message: "connect ECONNREFUSED 127.0.0.1:5432" },
    ]);
  });

  it("of a shape names the fields that do not fit", () => {
    const { error } = z.strictObject({ agent: z.string() }).safeParse({ agent: 7, more: true });
    expect(errorOf(error).message).toMatch(/^agent: Invalid input.*; Unrecognized key/);
  });

  it.each([
    ["a text", "password=my-private-word", { type: "string", message: "password=[secret]" }],
    ["nothing", null, { type: "null" }],
    ["an object", { message: "my-private-word" }, { type: "object" }],
    [
      "an error that can't be read",
      Object.defineProperty(new Error(), "message", {
        get() {
          throw new Error("my-private-word");
        },
      }),
      { type: "unreadable" },
    ],
    [
      "names that are no words",
      Object.assign(new Error("x"), { name: "my private name", code: "sk-my-private-key" }),
      { type: "Error", message: "x" },
    ],
  ])("may be %s", (_, thrown, shown) => {
    expect(errorOf(thrown)).toEqual(shown);
  });

  it("that is its own cause ends", () => {
    const error = new Error("round");
    error.cause = error;
    expect(JSON.stringify(errorOf(error)).match(/round/g)?.length).toBeLessThan(10);
  });

  it("that is logged without a message brings its own, scrubbed", () => {
    const error = new Error("password=my-private-word");
    for (const write of [
      (logger: Logger) => logger.error(error),
      (logger: Logger) => logger.error({ err: error, runId: "r1" }),
    ]) {
      const { text, line } = logged("info", write);
      expect(line.msg).toBe("password=[secret]");
      expect(text).not.toContain("my-private");
    }
  });
});
