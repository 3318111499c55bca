import { afterAll, beforeAll, describe, it } from "vitest";
import { SEED } from "../server/rig/trials.js";
import { conductOutage } from "./rig/conduct-outage.js";
import { type OutageStage, startOutageStage } from "./rig/outage-stage.js";
import { type ClusterSource, openClusterSource } from "./rig/postgres-cluster.js";
import { killedFor, type Strike, terminatedFor } from "./rig/strikes.js";
import { undisturbedState } from "./rig/undisturbed-state.js";

const RUNS = 3;
/** Undisturbed, a run then lasts for about eight seconds: long enough to be stopped when the outage is over. */
const PACE_MS = 60;

let source: ClusterSource;
let stage: OutageStage;
let undisturbed: unknown;
beforeAll(async () => {
  [source, undisturbed] = await Promise.all([openClusterSource(), undisturbedState()]);
  stage = await startOutageStage({ source, paceMs: PACE_MS });
}, 60_000);
afterAll(async () => {
  await stage?.close();
  await source?.close();
});

const survive = (title: string, strike: Strike) =>
  conductOutage(stage, { title, strike, runs: RUNS, undisturbed, keepsStreams: true });

describe("Runs end as if nothing had happened, and viewers miss nothing, when for 3 s PostgreSQL", () => {
  it("is killed", () => survive("Killed for 3 s, short", killedFor(3_000)), 120_000);

  it(
    "loses connections at random",
    () => survive("Terminated for 3 s, short", terminatedFor(3_000, SEED)),
    120_000,
  );
});
