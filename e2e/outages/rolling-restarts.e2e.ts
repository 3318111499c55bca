import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { findProblems } from "./rig/find-problems.js";
import { type OutageStage, startOutageStage } from "./rig/outage-stage.js";
import { type ClusterSource, openClusterSource } from "./rig/postgres-cluster.js";
import { undisturbedState } from "./rig/undisturbed-state.js";
import { startWatchedRun, untilInTheMiddle, viewersOf } from "./rig/watched-run.js";

const RESTARTS = 10;

let source: ClusterSource;
let undisturbed: unknown;
let stage: OutageStage;
beforeAll(async () => {
  [source, undisturbed] = await Promise.all([openClusterSource(), undisturbedState()]);
  // So slow that the run outlasts all restarts: each time it goes on where its last checkpoint is.
  stage = await startOutageStage({ source, paceMs: 400 });
});
afterAll(async () => {
  await stage?.close();
  await source?.close();
});

it(`${RESTARTS} rolling restarts under one long run cost it nothing but time`, async () => {
  const [first, second] = stage.instances;
  const run = await startWatchedRun("rolling-restarts", { home: first, away: second });
  try {
    await untilInTheMiddle(run);
    for (let restart = 1; restart <= RESTARTS; restart += 1) {
      // The run is always on the instance that was not restarted last.
      const { server } = restart % 2 === 1 ? first : second;
      await server.stop();
      await untilAttempt(restart);
      await server.restart();
    }
    const beganToRest = performance.now();
    await Promise.all(viewersOf(run).map(({ ended }) => ended));
    const rows = await stage.runRows();
    const [row] = rows;
    const reconnects = viewersOf(run).map((viewer) => viewer.reconnects());
    const lasted = ((performance.now() - beganToRest) / 1_000).toFixed(1);
    process.stdout.write(
      `Rolling restarts: ${row?.attempt} recoveries, ${row?.crashes ?? 0} crashes, ${reconnects.join(" and ")} reconnects, ended ${lasted} s after the last restart\n`,
    );
    expect(row?.attempt).toBeGreaterThan(5);
    const expected = { status: "success", state: undisturbed, mayShutDown: true } as const;
    expect(await findProblems(run, rows, expected)).toEqual([]);
  } finally {
    for (const viewer of viewersOf(run)) viewer.leave();
  }
}, 300_000);

/** Resolves when the other instance has the run; throws when the run is over instead. */
async function untilAttempt(attempt: number): Promise<void> {
  for (;;) {
    const [row] = await stage.runRows();
    if (row?.status !== "running") throw new Error(`After ${attempt} restarts the run is ${row?.status}.`);
    if (row.attempt >= attempt) return;
    await delay(50);
  }
}
