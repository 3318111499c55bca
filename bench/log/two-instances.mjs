import { fork } from "node:child_process";
import { once } from "node:events";

const PROGRAM = new URL("./instance.mjs", import.meta.url);
/** Beyond every thread that is written from this process, and enough for one instance. */
const FIRST_THREAD = 1_000_000;
const THREADS_EACH = 10_000;

/**
 * Two processes on one database, of ours or of the floor.
 *
 * @param {"ours" | "floor"} kind
 * @param {string} url
 */
export async function startTwoInstances(kind, url) {
  const children = await Promise.all(
    [0, 1].map(async (index) => {
      const child = fork(PROGRAM, [kind, url, String(FIRST_THREAD + index * THREADS_EACH)]);
      await answerOf(child);
      return child;
    }),
  );
  return {
    /** Appends of both together per second, and the worse of their p99. */
    async measure(load) {
      const results = await Promise.all(
        children.map((child) => {
          const answer = answerOf(child);
          child.send(load);
          return answer;
        }),
      );
      return {
        perSecond: results.reduce((sum, { perSecond }) => sum + perSecond, 0),
        p99: Math.max(...results.map(({ p99 }) => p99)),
      };
    },
    async stop() {
      await Promise.all(
        children.map(async (child) => {
          const gone = once(child, "exit");
          child.disconnect();
          await gone;
        }),
      );
    },
  };
}

async function answerOf(child) {
  const failed = once(child, "exit").then(() => {
    throw new Error("An instance of the bench ended early.");
  });
  const [answer] = await Promise.race([once(child, "message"), failed]);
  failed.catch(() => {});
  return answer;
}
