import { setTimeout as delay } from "node:timers/promises";
import type { Envelope } from "@throughline/ai-core";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { threadEnvelopes } from "../server/thread-envelopes.js";
import { findProblems } from "./rig/find-problems.js";
import { type OutageStage, startOutageStage } from "./rig/outage-stage.js";
import { type ClusterSource, openClusterSource } from "./rig/postgres-cluster.js";
import { undisturbedState } from "./rig/undisturbed-state.js";
import { startWatchedRun, untilInTheMiddle, viewersOf } from "./rig/watched-run.js";

const RUNS = 6;
const LEASE_MS = 4_000;

let source: ClusterSource;
let undisturbed: unknown;
let stage: OutageStage;
beforeAll(async () => {
  [source, undisturbed] = await Promise.all([openClusterSource(), undisturbedState()]);
  stage = await startOutageStage({ source, paceMs: 60, leaseMs: LEASE_MS, reapEveryMs: 500 });
});
afterAll(async () => {
  await stage?.close();
  await source?.close();
});

it("a zombie writes nothing: an instance that is frozen beyond its lease wakes up after its runs were recovered", async () => {
  const [zombie, other] = stage.instances;
  const runs = await Promise.all(
    Array.from({ length: RUNS }, (_, index) =>
      startWatchedRun(`zombie-${index}`, { home: zombie, away: other }),
    ),
  );
  try {
    await Promise.all(runs.map(untilInTheMiddle));
    zombie.server.pause();
    try {
      await untilRecovered();
    } finally {
      zombie.server.resume();
    }
    // It wakes while the other one is at work on the same runs.
    await Promise.all(runs.flatMap(viewersOf).map(({ ended }) => ended));
    const rows = await vi.waitFor(
      async () => {
        expect(await activeRuns(zombie.server.url)).toBe(0);
        const all = await stage.runRows();
        // It was alive, and says so when it finds out what it was taken for.
        expect(all.map(({ crashes }) => crashes ?? 0)).toEqual(all.map(() => 0));
        return all;
      },
      { timeout: 30_000, interval: 100 },
    );
    process.stdout.write(
      `Zombie: ${rows.map(({ attempt, crashes }) => `attempt ${attempt}, ${crashes ?? 0} crashes`).join("; ")}\n`,
    );
    const problems: string[] = [];
    for (const run of runs) {
      problems.push(...(await findProblems(run, rows, { status: "success", state: undisturbed })));
      const { threadId } = run.thread;
      const late = writtenLate(await threadEnvelopes(other.server.url, "researcher", threadId));
      problems.push(...late.map(({ seq, attempt }) => `${threadId}: entry ${seq} is of attempt ${attempt}`));
    }
    expect([...problems, ...(await forkedCheckpoints())]).toEqual([]);
  } finally {
    for (const viewer of runs.flatMap(viewersOf)) viewer.leave();
  }
}, 180_000);

async function untilRecovered(): Promise<void> {
  for (;;) {
    const rows = await stage.runRows();
    if (rows.every(({ attempt }) => attempt > 0)) return;
    await delay(50);
  }
}

/** Entries of an attempt that another one had followed by then. */
function writtenLate(log: readonly Envelope[]): readonly Envelope[] {
  let newest = 0;
  return log.filter(({ attempt }) => {
    newest = Math.max(newest, attempt);
    return attempt < newest;
  });
}

/** Two writers that go on from one checkpoint leave two children of it. */
async function forkedCheckpoints(): Promise<readonly string[]> {
  const { rows } = await stage.administer((client) =>
    client.query<{ parent: string; children: number }>(
      `select parent_checkpoint_id as parent, count(*)::integer as children from langgraph.checkpoints
       where parent_checkpoint_id is not null
       group by thread_id, checkpoint_ns, parent_checkpoint_id having count(*) > 1`,
    ),
  );
  return rows.map(({ parent, children }) => `checkpoint ${parent} has ${children} children`);
}

async function activeRuns(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const lines = text.split("\n").filter((line) => line.startsWith("throughline_active_runs{"));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
}
