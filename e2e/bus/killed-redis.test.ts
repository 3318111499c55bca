import { afterAll, beforeAll, it } from "vitest";
import { type OutageStage, startOutageStage } from "../outages/rig/outage-stage.js";
import { type ClusterSource, openClusterSource } from "../outages/rig/postgres-cluster.js";
import { undisturbedState } from "../outages/rig/undisturbed-state.js";
import { type RigRedis, startRedis } from "../server/rig/start-redis.js";
import { killedFor } from "./rig/redis-strikes.js";
import { surviveStrike } from "./rig/survive-strike.js";

const RUNS = 3;
/** Undisturbed, a run then lasts for about six seconds. */
const PACE_MS = 40;

let source: ClusterSource;
let undisturbed: unknown;
let redis: RigRedis;
let stage: OutageStage;
beforeAll(async () => {
  [source, undisturbed, redis] = await Promise.all([openClusterSource(), undisturbedState(), startRedis()]);
  stage = await startOutageStage({ source, paceMs: PACE_MS, redisUrl: redis.url });
}, 60_000);
afterAll(async () => {
  await stage?.close();
  await Promise.all([source?.close(), redis?.stop()]);
});

it("Runs and their viewers on the other instance notice nothing when Redis is killed for a second", async () => {
  const strike = killedFor(redis, 1_000);
  await surviveStrike(stage, { title: "Redis killed, short", strike, runs: RUNS, undisturbed });
}, 120_000);
