import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hostileRequest, problemOf, sendHostile } from "../testing/hostile-request.js";
import { readEvents, typesOf } from "../testing/sse-events.js";
import { startTestServer, type TestServer } from "../testing/test-server.js";

const REQUESTS = Number(process.env.THROUGHLINE_PROPERTY_RUNS ?? 2_000);
const AT_ONCE = 10;

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    // Runs that are refused for their number would hide what lies behind.
    limits: { maxBodyBytes: 20_000, maxContentParts: 50, maxConcurrentRuns: REQUESTS, maxWatchers: REQUESTS },
  });
});
afterAll(() => server.close());

describe("whatever is sent", () => {
  it(
    "gets a documented answer with a code, never a 5xx, and nothing of our insides",
    async () => {
      const requests = fc.array(hostileRequest(server.handler.routes), {
        minLength: AT_ONCE,
        maxLength: AT_ONCE,
      });
      await fc.assert(
        fc.asyncProperty(requests, async (sent) => {
          const problems = await Promise.all(
            sent.map(async (request) => problemOf(request, await sendHostile(server.url, request))),
          );
          expect(problems.filter((problem) => problem !== undefined)).toEqual([]);
        }),
        { numRuns: Math.ceil(REQUESTS / AT_ONCE), seed: 2026 },
      );
    },
    60_000 + 30 * REQUESTS,
  );

  it("is refused where it names something by a NUL, which no database stores", async () => {
    for (const path of ["/crons/%00", "/crons?after=%00", "/agents/chat/threads/a%00b"]) {
      const response = await fetch(`${server.url}${path}`);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ code: "invalid_input" });
    }
  });

  it("harms nobody else", async () => {
    const response = await server.post("/api/copilotkit/agent/poet/run", {
      threadId: "unharmed",
      messages: [{ id: "1", role: "user", content: "hello" }],
    });
    expect(typesOf(await readEvents(response)).at(-1)).toBe("RUN_FINISHED");
  });
});
