import { randomUUID } from "node:crypto";
import { startStockServer } from "../executor/stock-server.mjs";
import { median } from "../median.mjs";
import { atLeast, atMost } from "../targets.mjs";
import { labelled } from "./labelled.mjs";
import { runOf } from "./our-routes.mjs";
import { readRun, typed } from "./run-agent.mjs";

/** A model as people know them: a moment of silence, then fifty tokens a second. */
export const HUMAN = { tokens: 25, firstMs: 100, paceMs: 20 };
const CONCURRENCY = [1, 50, 100];
const STOCK_WORKERS = [10, 100];
const PROFILED = 50;

/**
 * Milliseconds from asking to the first token, each side asked by clients of another process; the median of all runs of a
 * round, and of those the median over rounds. The bare graph is also timed where it runs, with no HTTP at all.
 */
export async function measureFirstTokens({ ours, bare }, { rounds, progress, profiler }) {
  const stocks = await Promise.all(STOCK_WORKERS.map(startStockServer));
  const subjects = {
    ours: (runs) => together(runs, () => overHttp(runOf(ours.url, "typist", randomUUID(), HUMAN))),
    "bare graph": (runs) => bare.ask("first tokens", { typing: HUMAN, runs }),
    "bare graph over HTTP": (runs) => together(runs, () => overHttp({ url: `${bare.url}/run`, body: HUMAN })),
    ...Object.fromEntries(
      stocks.map((stock, index) => [
        `stock, ${STOCK_WORKERS[index]} workers`,
        (runs) => together(runs, () => onStock(stock)),
      ]),
    ),
  };
  const times = Object.fromEntries(Object.keys(subjects).map((name) => [name, {}]));
  try {
    // Warm-up for connections, compiled code and caches: the first round does not count.
    for (const run of Object.values(subjects)) await run(10);
    for (const runs of CONCURRENCY) {
      progress(`  first token, ${runs} at once`);
      const seen = Object.fromEntries(Object.keys(subjects).map((name) => [name, []]));
      // One run is over soon and its time is a single sample, so there are more of them.
      for (let round = 0; round < (runs === 1 ? 3 * rounds : rounds); round++) {
        for (const [name, run] of Object.entries(subjects)) seen[name].push(median(await run(runs)));
      }
      for (const [name, values] of Object.entries(seen)) times[name][runs] = median(values);
      // A round of its own: a process that is profiled is slower.
      if (runs === PROFILED) await profiler?.profile(ours, () => subjects.ours(PROFILED));
    }
    return report(times);
  } finally {
    for (const stock of stocks) stock.stop();
  }
}

function together(runs, run) {
  return Promise.all(Array.from({ length: runs }, run));
}

async function overHttp(what) {
  return (await readRun(what, typed(HUMAN))).firstTokenMs;
}

async function onStock(stock) {
  const { firstTokenMs, tokens } = await stock.run(HUMAN);
  if (tokens < HUMAN.tokens) throw new Error(`The stock server gave ${tokens} of ${HUMAN.tokens} tokens.`);
  return firstTokenMs;
}

function report({ ours, ...peers }) {
  const atOnce = (times) => labelled(times, (runs) => `${runs} at once`);
  const crowds = CONCURRENCY.filter((runs) => runs > 1);
  const [few, many] = STOCK_WORKERS.map((workers) => `stock, ${workers} workers`);
  return {
    ours: { "first token, ms": atOnce(ours) },
    peer: Object.fromEntries(
      Object.entries(peers).map(([name, times]) => [`first token, ms: ${name}`, atOnce(times)]),
    ),
    targets: [
      atMost("first token of 1 run, ours over bare graph", ours[1] / peers["bare graph"][1], 1.15),
      ...crowds.flatMap((runs) => [
        atMost(
          `first token of ${runs} runs, ours over bare graph over HTTP`,
          ours[runs] / peers["bare graph over HTTP"][runs],
          1.3,
        ),
        atLeast(`first token of ${runs} runs, ${few} over ours`, peers[few][runs] / ours[runs], 3),
        atLeast(`first token of ${runs} runs, ${many} over ours`, peers[many][runs] / ours[runs], 1),
      ]),
    ],
  };
}
