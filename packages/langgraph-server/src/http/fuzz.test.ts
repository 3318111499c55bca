import { request } from "node:http";
import { ERROR_CODES } from "@throughline/ai-core";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readEvents, typesOf } from "./testing/sse-events.js";
import { startTestServer, type TestServer } from "./testing/test-server.js";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ limits: { maxBodyBytes: 20_000, maxContentParts: 50 } });
});
afterAll(() => server.close());

const BASE = "/api/copilotkit";
const path = fc.constantFrom(
  BASE,
  `${BASE}/info`,
  `${BASE}/agent/chat/run`,
  `${BASE}/agent/chat/connect`,
  `${BASE}/agent/nobody/run`,
  `${BASE}/agent/%00/connect`,
  `${BASE}/agent/chat/stop/t`,
  `${BASE}/agent/chat/stop/%ff%fe`,
  `${BASE}/agent/chat/stop/${"t".repeat(300)}`,
  "/runs",
  "/agents/chat/threads/t/events?follow=false",
  "/agents/langgraph%3Achat/threads/%0d%0a/events?follow=false",
  "/agents/__proto__/threads/t/events?follow=false",
  "/health",
  "/ready",
  "/metrics",
  "/nowhere",
  "//",
  "/api/copilotkit/agent/chat/run/",
);
const method = fc.constantFrom("POST", "POST", "POST", "GET", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS");

const junk = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.integer(),
  fc.string(),
  fc.constantFrom("", "\u0000", "\ud800", "a\r\nb", "x".repeat(600)),
  fc.array(fc.integer(), { maxLength: 3 }),
  fc.dictionary(fc.constantFrom("id", "role", "content", "__proto__", "constructor"), fc.string(), {
    maxKeys: 3,
  }),
);
const field = fc.constantFrom(
  "threadId",
  "runId",
  "state",
  "messages",
  "tools",
  "context",
  "forwardedProps",
  "resume",
  "protocolVersion",
  "lastSeenEventId",
  "accountId",
  "stateKey",
  "model",
  "requestId",
  "traceId",
  "graphName",
  "method",
  "params",
  "body",
);
const forwarded = fc.record(
  {
    throughline: fc.dictionary(
      fc.constantFrom("command", "follow", "interrupts", "fork", "profile", "strategy", "x"),
      junk,
    ),
    command: junk,
  },
  { requiredKeys: [] },
);
const jsonBody = fc
  .tuple(
    fc.dictionary(field, fc.oneof(junk, fc.array(junk, { maxLength: 3 }), forwarded), { maxKeys: 8 }),
    fc.boolean(),
  )
  .map(([fields, named]) => JSON.stringify(named ? { threadId: "fuzz", ...fields } : fields));
const body = fc.oneof(
  { weight: 6, arbitrary: jsonBody },
  {
    weight: 1,
    arbitrary: fc.constantFrom("", "{", "null", "[]", '"text"', "7", "{}}", "\u0000", "[".repeat(9_000)),
  },
  { weight: 1, arbitrary: fc.constant(JSON.stringify({ threadId: "big", messages: "x".repeat(30_000) })) },
  {
    weight: 1,
    arbitrary: fc.constant(
      JSON.stringify({ threadId: "parts", messages: Array(60).fill({ role: "user", content: "x" }) }),
    ),
  },
);
const contentType = fc.constantFrom(
  "application/json",
  "application/json",
  "application/json",
  "text/plain",
  "",
  "application/json; charset=x",
);
const extraHeaders = fc.dictionary(
  fc.constantFrom(
    "last-event-id",
    "x-request-id",
    "traceparent",
    "x-throughline-account",
    "x-throughline-subject",
    "origin",
    "authorization",
  ),
  fc.constantFrom("", "-1", "x", "a".repeat(2_000), "00-zz-zz-01", "a b", "é", "acme"),
  { maxKeys: 3 },
);

const codes = new Set(Object.keys(ERROR_CODES));
const INTERNALS = /node_modules|at \w+ \(|\/src\/|ZodError|TypeError|stack|ECONN|SELECT |password/i;

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/** By hand, because fetch would not send half of this. */
function send(to: string, how: string, headers: Record<string, string>, payload: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(`${server.url}${to}`, { method: how, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, type: response.headers["content-type"] ?? "", text }),
      );
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(how === "GET" || how === "HEAD" ? undefined : payload);
  });
}

describe("whatever is sent", () => {
  it("gets a documented answer with a code, never a 5xx, and nothing of our insides", async () => {
    await fc.assert(
      fc.asyncProperty(
        path,
        method,
        body,
        contentType,
        extraHeaders,
        async (to, how, payload, type, headers) => {
          const bytes = { "content-type": type, "content-length": String(Buffer.byteLength(payload)) };
          const clean = Object.fromEntries(
            Object.entries({ ...headers, ...(how === "GET" || how === "HEAD" ? {} : bytes) }).map(
              ([name, value]) => [name, Buffer.from(value).toString("latin1")],
            ),
          );
          const answer = await send(to, how, clean, payload);
          expect([200, 204, 400, 401, 403, 404, 405, 409, 413, 429]).toContain(answer.status);
          if (to !== "/metrics") expect(answer.text).not.toMatch(INTERNALS);
          if (answer.status >= 400 && how !== "HEAD") {
            const { code } = JSON.parse(answer.text);
            expect(codes).toContain(code);
          }
          if (answer.type.startsWith("text/event-stream")) expect(answer.text).toMatch(/(^|\n\n)$/);
        },
      ),
      { numRuns: 500, seed: 2026 },
    );
  });

  it("harms nobody else", async () => {
    const response = await server.post(`${BASE}/agent/poet/run`, {
      threadId: "unharmed",
      messages: [{ id: "1", role: "user", content: "hello" }],
    });
    expect(typesOf(await readEvents(response)).at(-1)).toBe("RUN_FINISHED");
  });
});
