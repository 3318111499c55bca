import { afterAll, beforeAll, describe } from "vitest";
import { describeDialects } from "./dialect-behaviour.js";
import { describeEndings } from "./ending-behaviour.js";
import { describeInterrupts } from "./interrupt-behaviour.js";
import { describeState } from "./state-behaviour.js";
import { describeStreaming } from "./streaming-behaviour.js";
import type { ExecutorUnderTest } from "./thread-session.js";

/** The project every backend runs in this suite. */
export const BEHAVIOUR_PROJECT = new URL("./graphs/langgraph.json", import.meta.url);

/** What every backend does alike. A backend passes when it serves `BEHAVIOUR_PROJECT` and all of this holds. */
export function runExecutorBehaviour(name: string, makeExecutor: () => Promise<ExecutorUnderTest>): void {
  describe(`${name} behaves as every executor: it`, () => {
    let executor: ExecutorUnderTest | undefined;

    function provider() {
      if (!executor) throw new Error("The executor was not made.");
      return executor.provider;
    }

    beforeAll(async () => {
      executor = await makeExecutor();
    });
    afterAll(async () => executor?.close?.());

    describeStreaming(provider);
    describeDialects(provider);
    describeInterrupts(provider);
    describeEndings(provider);
    describeState(provider);
  });
}
