import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  hostileRequest,
  problemOf,
  sendHostile,
} from "../../packages/langgraph-server/src/testing/hostile-request.js";
import { readEvents, typesOf } from "../../packages/langgraph-server/src/testing/sse-events.js";
import { agentRoutes, said } from "./rig/agent-routes.js";
import { tableOfRoutes } from "./rig/route-table.js";
import { serverForTests } from "./rig/server-for-tests.js";
import { SEED, trialsOr } from "./rig/trials.js";

/** By default fewer than `--trials 20000` asks for, which takes some minutes. */
const REQUESTS = trialsOr(4_000);
const AT_ONCE = 10;

const server = serverForTests({
  env: {
    THROUGHLINE_MAX_BODY_BYTES: "20000",
    THROUGHLINE_MAX_CONTENT_PARTS: "50",
    // Requests that are refused for their number would hide what lies behind.
    THROUGHLINE_MAX_CONCURRENT_RUNS: "100000",
    THROUGHLINE_MAX_WATCHERS: "100000",
  },
});

describe("whatever is sent, to every route", () => {
  it("is answered as documented, gives nothing away, and harms nobody beside", async () => {
    const attack = new AbortController();
    const beside = wellBehaved(attack.signal);
    try {
      const requests = fc.array(hostileRequest(await tableOfRoutes()), {
        minLength: AT_ONCE,
        maxLength: AT_ONCE,
      });
      await fc.assert(
        fc.asyncProperty(requests, async (sent) => {
          const problems = await Promise.all(
            sent.map(async (request) => problemOf(request, await sendHostile(server().url, request))),
          );
          expect(problems.filter((problem) => problem !== undefined)).toEqual([]);
        }),
        { numRuns: Math.ceil(REQUESTS / AT_ONCE), seed: SEED },
      );
    } finally {
      attack.abort();
    }
    expect(await beside).toBeGreaterThan(0);
  }, 1_200_000);
});

/** Another account's ordinary day: runs and reloads, each as it should be. */
async function wellBehaved(until: AbortSignal): Promise<number> {
  const routes = agentRoutes(server().url);
  const who = { "x-throughline-account": "neighbour" };
  let turns = 0;
  while (!until.aborted) {
    turns += 1;
    const threadId = `turn ${turns}`;
    const ran = await readEvents(
      await routes.run("poet", { threadId, messages: [said("m", "a line about rivers")] }, who),
    );
    expect(typesOf(ran).at(-1)).toBe("RUN_FINISHED");
    const reloaded = await readEvents(await routes.connect("poet", { threadId }, who));
    expect(typesOf(reloaded)).toEqual(["RUN_STARTED", "STATE_SNAPSHOT", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]);
  }
  return turns;
}
