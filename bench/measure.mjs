import { median } from "./median.mjs";

// CPU time, not wall time: a busy neighbour slows the clock but not the count of our own cycles.

/**
 * Rounds go round-robin over all subjects, so that heat, a garbage collection or a neighbour falls on everyone alike.
 *
 * @param {readonly { name: string, units: number, run: () => unknown }[]} subjects `units`: what one run processes
 * @param {{ rounds: number, secondsPerSubject: number, onRound?: (done: number, of: number) => void }} options
 * @returns {Promise<Map<string, { perCpuSecond: number, spread: number }>>} medians over rounds, in units per CPU second
 */
export async function measureInterleaved(subjects, { rounds, secondsPerSubject, onRound }) {
  const rates = new Map(subjects.map(({ name }) => [name, []]));
  for (const { run } of subjects) await runFor(run, secondsPerSubject / rounds);
  for (let round = 0; round < rounds; round++) {
    for (const { name, units, run } of subjects) {
      const { runs, cpuSeconds } = await runFor(run, secondsPerSubject / rounds);
      rates.get(name).push((units * runs) / cpuSeconds);
    }
    onRound?.(round + 1, rounds);
  }
  return new Map(
    [...rates].map(([name, values]) => [
      name,
      { perCpuSecond: median(values), spread: (Math.max(...values) - Math.min(...values)) / median(values) },
    ]),
  );
}

async function runFor(run, seconds) {
  const before = process.cpuUsage();
  const deadline = performance.now() + seconds * 1_000;
  let runs = 0;
  do {
    await run();
    runs++;
  } while (performance.now() < deadline);
  const { user, system } = process.cpuUsage(before);
  return { runs, cpuSeconds: (user + system) / 1e6 };
}
