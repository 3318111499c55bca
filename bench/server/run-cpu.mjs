import { randomUUID } from "node:crypto";
import { median } from "../median.mjs";
import { atMost } from "../targets.mjs";
import { HUMAN } from "./first-token.mjs";
import { runOf } from "./our-routes.mjs";
import { readRun, typed } from "./run-agent.mjs";

/** As many as a busy minute has open: one alone would be measured with all that an idle process does beside it. */
const AT_ONCE = 10;

/**
 * CPU milliseconds of the serving process per run that one viewer reads: the same graph and the same pace, behind our service
 * and behind a bare response.
 */
export async function measureRunCpu({ ours, bare }, { rounds, runs, progress }) {
  const subjects = {
    ours: { server: ours, what: () => runOf(ours.url, "typist", randomUUID(), HUMAN) },
    bare: { server: bare, what: () => ({ url: `${bare.url}/run`, body: HUMAN }) },
  };
  const seen = { ours: [], bare: [] };
  for (const { what } of Object.values(subjects)) await readAll(what, runs);
  for (let round = 0; round < rounds; round++) {
    progress(`  CPU per run, round ${round + 1} of ${rounds}`);
    for (const [name, { server, what }] of Object.entries(subjects)) {
      const before = await server.ask("cpu");
      await readAll(what, runs);
      seen[name].push(((await server.ask("cpu")) - before) / 1_000 / runs);
    }
  }
  const [own, bareGraph] = [median(seen.ours), median(seen.bare)];
  return {
    ours: { "CPU ms per run": { "1 viewer": own } },
    peer: { "CPU ms per run: bare graph over HTTP": { "1 viewer": bareGraph } },
    targets: [atMost("CPU per run, 1 viewer, ours over bare graph", own / bareGraph, 2)],
  };
}

async function readAll(what, runs) {
  for (let done = 0; done < runs; done += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, runs - done) }, () => readRun(what(), typed(HUMAN)));
    await Promise.all(some);
  }
}
