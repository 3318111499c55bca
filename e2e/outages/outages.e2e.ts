import { afterAll, beforeAll, describe, it } from "vitest";
import { SEED } from "../server/rig/trials.js";
import { conductOutage, type OutageCase } from "./rig/conduct-outage.js";
import { type OutageStageOptions, startOutageStage } from "./rig/outage-stage.js";
import { type ClusterSource, openClusterSource } from "./rig/postgres-cluster.js";
import {
  exhaustedFor,
  halfOpenFor,
  killedFor,
  readOnlyFor,
  synchronousReplica,
  terminatedFor,
} from "./rig/strikes.js";
import { undisturbedState } from "./rig/undisturbed-state.js";

const RUNS = 20;
/** Undisturbed, a run then lasts for about twenty seconds. */
const PACE_MS = 150;
const TIMEOUT_MS = 300_000;

let source: ClusterSource;
let undisturbed: unknown;
beforeAll(async () => {
  [source, undisturbed] = await Promise.all([openClusterSource(), undisturbedState()]);
});
afterAll(() => source?.close());

async function survive(
  outage: Pick<OutageCase, "title" | "strike" | "keepsStreams" | "mayRenewEpoch">,
  options: Partial<OutageStageOptions> = {},
): Promise<void> {
  const stage = await startOutageStage({ source, paceMs: PACE_MS, ...options });
  try {
    await conductOutage(stage, { ...outage, runs: RUNS, undisturbed });
  } finally {
    await stage.close();
  }
}

describe("Runs end as if nothing had happened, and viewers miss nothing, when PostgreSQL", () => {
  it.each([3, 10, 30])(
    "is killed and back after %i s",
    (seconds) =>
      survive({
        title: `Killed for ${seconds} s`,
        strike: killedFor(seconds * 1_000),
        keepsStreams: seconds < 10,
      }),
    TIMEOUT_MS,
  );

  it(
    "is read-only for 6 s",
    () => survive({ title: "Read-only for 6 s", strike: readOnlyFor(6_000), keepsStreams: true }),
    TIMEOUT_MS,
  );

  it(
    "fails over to a synchronous replica",
    () => {
      const { prepare, failOver } = synchronousReplica(source);
      const outage = { title: "Failover", strike: failOver, keepsStreams: false, mayRenewEpoch: true };
      return survive(outage, { isProxied: true, prepare });
    },
    TIMEOUT_MS,
  );

  it(
    "loses connections at random for 20 s",
    () =>
      survive({
        title: "Terminated at random for 20 s",
        strike: terminatedFor(20_000, SEED),
        keepsStreams: true,
      }),
    TIMEOUT_MS,
  );

  it(
    "has its connections used up by others for 10 s",
    () =>
      survive(
        { title: "Exhausted for 10 s", strike: exhaustedFor(10_000), keepsStreams: false },
        { settings: { max_connections: 100 } },
      ),
    TIMEOUT_MS,
  );

  it(
    "is reached over connections that went half-open for 60 s",
    () =>
      survive(
        { title: "Half-open for 60 s", strike: halfOpenFor(60_000), keepsStreams: false },
        { isProxied: true },
      ),
    TIMEOUT_MS,
  );
});
