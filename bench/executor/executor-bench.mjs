// What running a graph through us costs over running it bare, and over the server that LangGraph ships for it.

import { median } from "../median.mjs";
import { atLeast, atMost } from "../targets.mjs";
import { bareGraph, ourProvider } from "./in-process.mjs";
import { startStockServer } from "./stock-server.mjs";

/** A model as people know them: a moment of silence, then fifty tokens a second. */
const HUMAN = { tokens: 25, firstMs: 100, paceMs: 20 };
const FLAT_OUT = { tokens: 100, firstMs: 0, paceMs: 0 };
const CONCURRENCY = [1, 10, 50, 100];
const AS_SHIPPED = 10;

/** @param {{ quick: boolean, progress: (text: string) => void }} options */
export async function runBench({ quick, progress }) {
  const servers = new Map();
  for (const workers of [AS_SHIPPED, 100]) servers.set(workers, await startStockServer(workers));
  try {
    const subjects = {
      "ours, with adapter": () => ourProvider(),
      "bare, same modes": () => bareGraph(),
      "bare, messages": () => bareGraph(["messages"]),
      "stock, 10 workers": () => servers.get(AS_SHIPPED).run,
      "stock, 100 workers": () => servers.get(100).run,
    };
    const rounds = quick ? 3 : 9;
    const first = await firstTokens(subjects, { rounds, progress });
    const inProcess = Object.fromEntries(Object.entries(subjects).slice(0, 3));
    const rates = await flatOutRates(inProcess, { rounds, progress });
    const at = (subject, runs) => first[subject][`${runs} at once`];
    const [ours, same] = ["ours, with adapter", "bare, same modes"];
    return {
      ours: { [ours]: { ...first[ours], ...rates[ours] } },
      peer: Object.fromEntries(
        Object.keys(subjects)
          .filter((subject) => subject !== ours)
          .map((subject) => [subject, { ...first[subject], ...rates[subject] }]),
      ),
      targets: [
        atMost("first token of one run, ours over bare", at(ours, 1) / at(same, 1), 1.15),
        atLeast(
          "tokens per CPU second, 100 flat out, ours over bare",
          rateOf(rates[ours]) / rateOf(rates[same]),
          0.8,
        ),
        atLeast(
          "first token of 50 runs, stock server over ours",
          at("stock, 10 workers", 50) / at(ours, 50),
          3,
        ),
      ],
    };
  } finally {
    for (const server of servers.values()) server.stop();
  }
}

/** Medians of the time to the first token; rounds go round-robin, so that a busy neighbour falls on everyone alike. */
async function firstTokens(subjects, { rounds, progress }) {
  const times = {};
  for (const runs of CONCURRENCY) {
    progress(`  ${runs} at once`);
    const key = `${runs} at once`;
    const seen = Object.fromEntries(Object.keys(subjects).map((name) => [name, []]));
    for (let round = 0; round < rounds; round++) {
      for (const [name, make] of Object.entries(subjects)) {
        const all = await together(make(), HUMAN, runs);
        seen[name].push(median(all.map(({ firstTokenMs }) => firstTokenMs)));
      }
    }
    for (const [name, values] of Object.entries(seen))
      times[name] = { ...times[name], [key]: median(values) };
  }
  return times;
}

const RATE = "tokens/CPU s, 100 flat out";
const rateOf = (rates) => rates[RATE];

async function flatOutRates(subjects, { rounds, progress }) {
  progress("  100 flat out");
  const seen = Object.fromEntries(Object.keys(subjects).map((name) => [name, []]));
  // The first round warms up.
  for (let round = 0; round <= rounds; round++) {
    for (const [name, make] of Object.entries(subjects)) {
      const before = process.cpuUsage();
      const all = await together(make(), FLAT_OUT, 100);
      const { user, system } = process.cpuUsage(before);
      const tokens = all.reduce((sum, typed) => sum + typed.tokens, 0);
      if (round > 0) seen[name].push(tokens / ((user + system) / 1e6));
    }
  }
  return Object.fromEntries(Object.entries(seen).map(([name, values]) => [name, { [RATE]: median(values) }]));
}

async function together(run, typing, runs) {
  const all = await Promise.all(Array.from({ length: runs }, () => run(typing)));
  // A stream that loses tokens would be a fast one.
  for (const { tokens } of all)
    if (tokens < typing.tokens) throw new Error(`A run gave ${tokens} of ${typing.tokens} tokens.`);
  return all;
}
