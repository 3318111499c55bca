import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import { findProblems } from "./find-problems.js";
import type { OutageStage, RunRow } from "./outage-stage.js";
import type { Strike } from "./strikes.js";
import {
  hasEnded,
  startWatchedRun,
  stopUntilAcknowledged,
  untilInTheMiddle,
  viewersOf,
  type WatchedRun,
} from "./watched-run.js";

export interface OutageCase {
  readonly title: string;
  readonly runs: number;
  readonly strike: Strike;
  /** Of `undisturbedState()`. */
  readonly undisturbed: unknown;
  /** The outage is too short to end any viewer's stream. */
  readonly keepsStreams: boolean;
  /** The database afterwards is another one (R19). */
  readonly mayRenewEpoch?: boolean;
}

/** How long after an outage every run must have ended. */
const PATIENCE_MS = 90_000;

/**
 * Strikes while runs are in their middle, mends, and holds what became of runs and viewers against an undisturbed run. One
 * run more is asked to stop during the outage.
 */
export async function conductOutage(stage: OutageStage, outage: OutageCase): Promise<void> {
  const all: WatchedRun[] = [];
  try {
    for (let index = 0; index <= outage.runs; index += 1) {
      const [first, second] = stage.instances;
      const at = index % 2 === 0 ? { home: first, away: second } : { home: second, away: first };
      all.push(await startWatchedRun(`${outage.title.replaceAll(/\W+/g, "-")}-${index}`, at));
    }
    await Promise.all(all.map(untilInTheMiddle));
    const early = all.filter(hasEnded).length;
    expect(early, "runs that ended before the outage began: their model must be slower").toBe(0);

    const [stopped, ...runs] = all;
    if (!stopped) throw new Error("There is no run to stop.");
    let brokenAt = 0;
    let stopping: Promise<number> | undefined;
    await outage.strike(stage, () => {
      brokenAt = performance.now();
      stopping = stopUntilAcknowledged(stopped);
    });
    const mendedAt = performance.now();
    const ends = all.flatMap(viewersOf).map(({ ended }) => ended);
    await withinPatience(Promise.all([stopping, ...ends]), () => describeOpen(all, stage));

    const rows = await stage.runRows();
    report(outage, { all, rows, outageMs: mendedAt - brokenAt, stops: (await stopping) ?? 0, mendedAt });
    const { keepsStreams, mayRenewEpoch = false, undisturbed } = outage;
    const watched = { keepsStreams, mayRenewEpoch };
    const problems = [...(await findProblems(stopped, rows, { ...watched, status: "cancelled" }))];
    for (const run of runs) {
      const expected = { ...watched, status: "success", state: undisturbed } as const;
      problems.push(...(await findProblems(run, rows, expected)));
    }
    expect(problems).toEqual([]);
  } finally {
    for (const viewer of all.flatMap(viewersOf)) viewer.leave();
  }
}

async function withinPatience<T>(work: Promise<T>, describe: () => Promise<string>): Promise<T> {
  const done = new AbortController();
  const tooLate = delay(PATIENCE_MS, undefined, { signal: done.signal }).then(async () => {
    throw new Error(`${PATIENCE_MS / 1_000} s after the outage ${await describe()}`);
  });
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    tooLate.catch(() => {});
    done.abort();
  }
}

async function describeOpen(all: readonly WatchedRun[], stage: OutageStage): Promise<string> {
  const rows = await stage.runRows();
  const open = all.flatMap((run) => {
    const late = viewersOf(run).filter((viewer) => viewer.endedAt() === undefined).length;
    const row = rows.find(({ alias }) => alias === run.thread.runId);
    return late === 0 ? [] : [`${row?.alias} (${row?.status}, attempt ${row?.attempt}): ${late} viewers`];
  });
  const logs = stage.instances.map(({ server }) => server.log().slice(-2_000));
  return `the stop is not acknowledged, or viewers wait:\n${[...open, ...logs].join("\n")}`;
}

interface Outcome {
  readonly all: readonly WatchedRun[];
  readonly rows: readonly RunRow[];
  readonly outageMs: number;
  /** Requests it took to stop a run. */
  readonly stops: number;
  readonly mendedAt: number;
}

function report({ title }: OutageCase, { all, rows, outageMs, stops, mendedAt }: Outcome): void {
  const viewers = all.flatMap(viewersOf);
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
  const lastEnd = Math.max(...viewers.map((viewer) => viewer.endedAt() ?? 0));
  const ours = rows.filter(({ alias }) => all.some(({ thread }) => thread.runId === alias));
  const facts = [
    `outage ${seconds(outageMs)}`,
    `${sum(viewers.map((viewer) => viewer.reconnects()))} reconnects of ${viewers.length} viewers`,
    `${sum(ours.map(({ attempt }) => attempt))} recoveries of ${ours.length} runs`,
    `${sum(ours.map(({ crashes }) => crashes ?? 0))} crashes`,
    `stop acknowledged at request ${stops}`,
    `last run ended ${seconds(lastEnd - mendedAt)} after the outage`,
  ];
  process.stdout.write(`${title}: ${facts.join(", ")}\n`);
}
