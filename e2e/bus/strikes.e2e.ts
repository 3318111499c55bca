import { afterAll, afterEach, beforeAll, beforeEach, describe, it } from "vitest";
import { type OutageStage, startOutageStage } from "../outages/rig/outage-stage.js";
import { type ClusterSource, openClusterSource } from "../outages/rig/postgres-cluster.js";
import type { Strike } from "../outages/rig/strikes.js";
import { undisturbedState } from "../outages/rig/undisturbed-state.js";
import { type RigRedis, startRedis } from "../server/rig/start-redis.js";
import { trialsOr } from "../server/rig/trials.js";
import { failedOver, flushedFor, killedFor, pausedFor } from "./rig/redis-strikes.js";
import { surviveStrike } from "./rig/survive-strike.js";

/** One more is asked to stop; an account may have fifty at a time. `--trials` takes fewer on a small machine. */
const RUNS = trialsOr(49);
/** Undisturbed, a run then lasts for about twenty seconds. */
const PACE_MS = 150;
const TIMEOUT_MS = 300_000;

let source: ClusterSource;
let undisturbed: unknown;
let primary: RigRedis;
let replica: RigRedis;
let stage: OutageStage;
beforeAll(async () => {
  [source, undisturbed] = await Promise.all([openClusterSource(), undisturbedState()]);
});
beforeEach(async () => {
  primary = await startRedis();
  replica = await startRedis({ replicaOf: primary });
  stage = await startOutageStage({
    source,
    paceMs: PACE_MS,
    redisUrl: `${primary.url},127.0.0.1:${replica.port}`,
  });
});
afterEach(async () => {
  await stage?.close();
  await Promise.all([primary?.stop(), replica?.stop()]);
});
afterAll(() => source?.close());

const survive = (title: string, strike: Strike) =>
  surviveStrike(stage, { title, strike, runs: RUNS, undisturbed });

describe("Runs and their viewers on the other instance notice nothing when Redis", () => {
  it("is killed and back after 5 s", () => survive("Redis killed", killedFor(primary, 5_000)), TIMEOUT_MS);
  it("is emptied for 5 s", () => survive("Redis emptied", flushedFor(primary, 5_000)), TIMEOUT_MS);
  it("is paused for 5 s", () => survive("Redis paused", pausedFor(primary, 5_000)), TIMEOUT_MS);
  it("fails over to its replica", () => survive("Redis failover", failedOver(primary, replica)), TIMEOUT_MS);
});
