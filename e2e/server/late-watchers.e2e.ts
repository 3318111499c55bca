import { describe, expect, it } from "vitest";
import { askedAgent, QUESTIONS } from "./rig/questions.js";
import { serverForTests } from "./rig/server-for-tests.js";
import { eachTrial } from "./rig/trials.js";
import { CLIENT_KINDS, type StockClient, stockClient } from "./stock/stock-client.js";

const server = serverForTests({ env: { THROUGHLINE_OFFLINE_PACE_MS: "5" } });

const MOMENTS = ["RUN_STARTED", "STEP_STARTED", "TEXT_MESSAGE_CONTENT", "TOOL_CALL_ARGS", "STATE_DELTA"];

const shown = ({ messages, state }: StockClient) => structuredClone({ messages, state });

describe.each(CLIENT_KINDS)("with %s", (kind) => {
  it("a second and a third watcher who come late hold at the end what the starter holds", async () => {
    await eachTrial(24, async (random, index) => {
      const agent = askedAgent(index);
      const threadId = `late ${kind} ${index}`;
      const open = () => stockClient(kind, { url: server().url, agent, threadId });
      const starter = open();
      starter.say(QUESTIONS[agent]);
      const moments = [1, 2].map(() => MOMENTS[Math.floor(random() * MOMENTS.length)] ?? "RUN_STARTED");
      const come = moments.map((type) => starter.heard(type));
      const running = starter.run();
      const watching = come.map(async (moment) => {
        // Not every run has every moment; who waits for one that never comes, comes at the end.
        await Promise.race([moment, running]);
        const watcher = open();
        const heard = await watcher.connect();
        expect(heard.errors).toEqual([]);
        expect(heard.types.at(-1)).toBe("RUN_FINISHED");
        return watcher;
      });
      const [heard, second, third] = await Promise.all([running, ...watching]);
      expect(heard.errors).toEqual([]);
      for (const watcher of [second, third]) {
        if (!watcher) throw new Error("Nobody watched.");
        expect(shown(watcher)).toEqual(shown(starter));
      }
    });
  }, 600_000);
});
