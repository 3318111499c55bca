import { measureLoad } from "./measure-load.mjs";

export const MOST_LAG_MS = 250;
const LEAST_SHARE = 0.95;
const STEP = 1.4;
const MOST_RUNS = 2_000;
/** How far beyond the maximum the service is pushed, to see whether it bends or breaks. */
const OVERLOAD = 2;

/** Whether viewers got everything, and in time. */
export function keepsUp(result, lag = "commit lag ms") {
  const { throughput, lost, refused } = result;
  return (
    (result[lag]?.p99 ?? Number.POSITIVE_INFINITY) <= MOST_LAG_MS &&
    throughput["share of what was due"] >= LEAST_SHARE &&
    lost.missing + lost.doubled + refused.failed + refused[429] === 0
  );
}

/**
 * Steps up the number of runs until viewers wait longer than 250 ms, or not all runs are admitted. Then twice the maximum: on
 * the same service, which admits them all, and on one that is told how many it may drive. Then the first load again: whether the
 * service recovers.
 *
 * @param {import("./subject.mjs").Subject} subject
 * @param {{ runs: number, viewers: number, seconds: number, progress: (text: string) => void,
 *   withCap: (runs: number, work: (subject: import("./subject.mjs").Subject) => Promise<unknown>) => Promise<unknown> }} options
 */
export async function findMax(subject, { runs, viewers, seconds, progress, withCap }) {
  const steps = [];
  const measure = async (on, count, label) => {
    const { samples, runs: each, ...result } = await measureLoad(on, { runs: count, viewers, seconds });
    progress(`  ${label}: ${sentenceOf(result)}`);
    return result;
  };
  for (let count = runs; count <= MOST_RUNS; count = Math.ceil(count * STEP)) {
    steps.push(await measure(subject, count, `${count} runs x ${viewers}`));
    if (!keepsUp(steps.at(-1))) break;
  }
  const maxBy = (lag) =>
    steps.filter((step) => keepsUp(step, lag)).reduce((most, { load }) => Math.max(most, load.runs), 0);
  const most = maxBy("commit lag ms");
  const over = Math.max(runs, most) * OVERLOAD;
  return {
    most: { runs: most, viewers, "runs x viewers": most * viewers, "by token lag": maxBy("token lag ms") },
    steps,
    overload: await measure(subject, over, `${over} runs, too many`),
    after: await measure(subject, runs, `${runs} runs again`),
    capped: await withCap(Math.max(runs, most), (capped) =>
      measure(capped, over, `${over} runs, of which ${Math.max(runs, most)} are admitted`),
    ),
  };
}

export function sentenceOf(result) {
  const { throughput, "CPU, cores": cores, refused } = result;
  const lag = (name) => {
    const { p50, p99, max } = result[name] ?? {};
    return `${p50}/${p99}/${max}`;
  };
  const commit = result["commit lag ms"] ? `commit lag ${lag("commit lag ms")} ms, ` : "";
  return (
    `${commit}token lag ${lag("token lag ms")} ms (p50/p99/max), ` +
    `${Math.round(throughput["tokens per second"])} tokens/s (${Math.round(throughput["share of what was due"] * 100)} % of what was due), ` +
    `cores ${cores.service.toFixed(2)} service + ${cores.postgres.toFixed(2)} postgres + ${cores.client.toFixed(2)} client + ${cores.others.toFixed(2)} others, ` +
    `${refused[429]} x 429, ${refused.failed} failed`
  );
}
