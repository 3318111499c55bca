import { checkShown } from "./conversation.mjs";

/** @typedef {() => Promise<{ stream(): unknown, close(): unknown }>} Open */

/**
 * Microseconds per event, of CPU and of the clock on the wall. Only `stream` is timed: opening and closing cost what the
 * history costs, and happen once.
 *
 * @param {import("./conversation.mjs").Workload} workload
 * @param {Open} open
 * @param {number} ms of CPU at least: a shorter time would be mostly the clock's own grain
 */
export async function measureStream(workload, open, ms) {
  let streams = 0;
  let cpu = 0;
  let wall = 0;
  do {
    const opened = await open();
    const cpuBefore = process.cpuUsage();
    const wallBefore = performance.now();
    await opened.stream();
    wall += performance.now() - wallBefore;
    const { user, system } = process.cpuUsage(cpuBefore);
    cpu += user + system;
    streams++;
    checkShown(workload, await opened.close());
  } while (cpu < ms * 1_000);
  const events = streams * (workload.events.length - 1);
  return { cpu: cpu / events, wall: (wall * 1_000) / events };
}
