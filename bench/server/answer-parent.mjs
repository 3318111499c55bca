import { Session } from "node:inspector/promises";

/**
 * The other end of `startChild`: answers by name, and what every server is asked: its CPU time, what it holds in memory, and
 * where its time goes.
 *
 * @param {Record<string, (about: unknown) => unknown>} answers
 */
export function answerParent(answers) {
  const all = {
    cpu: cpuMicros,
    memory: restingBytes,
    "start profile": startProfile,
    "stop profile": stopProfile,
    ...answers,
  };
  process.on("message", async ({ id, what, about }) => {
    try {
      process.send({ id, answer: await all[what](about) });
    } catch (error) {
      process.send({ id, error: error.stack ?? String(error) });
    }
  });
  process.once("disconnect", () => process.exit());
}

function cpuMicros() {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** Twice, with a turn between: finalisers of the first round free what the second collects. */
async function restingBytes() {
  for (let round = 0; round < 2; round++) {
    globalThis.gc();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  return { resident: rss, held: heapUsed + external };
}

let profiling;

async function startProfile() {
  profiling = new Session();
  profiling.connect();
  await profiling.post("Profiler.enable");
  await profiling.post("Profiler.start");
}

async function stopProfile() {
  const { profile } = await profiling.post("Profiler.stop");
  profiling.disconnect();
  return profile;
}
