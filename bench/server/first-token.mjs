import { randomUUID } from "node:crypto";
import { startStockServer } from "../executor/stock-server.mjs";
import { median } from "../median.mjs";
import { runOf } from "./our-routes.mjs";
import { readSse } from "./sse-reader.mjs";

/** A model as people know them: a moment of silence, then fifty tokens a second. */
const HUMAN = { tokens: 25, firstMs: 100, paceMs: 20 };
const CONCURRENCY = [1, 50, 100];

/**
 * Milliseconds from asking to the first token, each side asked by clients of another process; the median of all runs of a
 * round, and of those the median over rounds. The bare graph is also timed where it runs, with no HTTP at all.
 *
 * @returns {Promise<Record<string, Record<number, number>>>} by subject, by runs at once
 */
export async function measureFirstTokens({ ours, bare }, { rounds, progress }) {
  const stocks = [await startStockServer(10), await startStockServer(100)];
  const subjects = {
    ours: (runs) => together(runs, () => overHttp(runOf(ours.url, "typist", randomUUID(), HUMAN))),
    "bare graph": (runs) => bare.ask("first tokens", { typing: HUMAN, runs }),
    "bare graph over HTTP": (runs) => together(runs, () => overHttp({ url: `${bare.url}/run`, body: HUMAN })),
    "stock, 10 workers": (runs) => together(runs, () => onStock(stocks[0])),
    "stock, 100 workers": (runs) => together(runs, () => onStock(stocks[1])),
  };
  const times = Object.fromEntries(Object.keys(subjects).map((name) => [name, {}]));
  try {
    // Connections, compiled code, caches: nobody's first round counts.
    for (const run of Object.values(subjects)) await run(10);
    for (const runs of CONCURRENCY) {
      progress(`  first token, ${runs} at once`);
      const seen = Object.fromEntries(Object.keys(subjects).map((name) => [name, []]));
      // One run is over soon and its time is a single sample, so there are more of them.
      for (let round = 0; round < (runs === 1 ? 3 * rounds : rounds); round++) {
        for (const [name, run] of Object.entries(subjects)) seen[name].push(median(await run(runs)));
      }
      for (const [name, values] of Object.entries(seen)) times[name][runs] = median(values);
    }
    return times;
  } finally {
    for (const stock of stocks) stock.stop();
  }
}

function together(runs, run) {
  return Promise.all(Array.from({ length: runs }, run));
}

async function overHttp(what) {
  const startedAt = performance.now();
  let first;
  let last = "";
  const reading = readSse(what, (frame) => {
    if (frame.includes("TEXT_MESSAGE_CONTENT")) first ??= performance.now() - startedAt;
    last = frame;
  });
  await reading.ended;
  if (first === undefined || !last.includes("RUN_FINISHED")) throw new Error(`A run ended with ${last}`);
  return first;
}

async function onStock(stock) {
  const { firstTokenMs, tokens } = await stock.run(HUMAN);
  if (tokens < HUMAN.tokens) throw new Error(`The stock server gave ${tokens} of ${HUMAN.tokens} tokens.`);
  return firstTokenMs;
}
