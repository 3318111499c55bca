import { createMemoryCheckpointer } from "@throughline/graph-executor";
import { createMemoryDatabase } from "@throughline/thread-log";
import fc from "fast-check";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import type { ServiceStore } from "../server/create-service.js";
import { commandTrials, tryCommands } from "../testing/command-trial.js";
import { openServiceScene, type ServiceScene } from "../testing/service-scene.js";
import { openTestPostgres, type TestPostgres } from "../testing/test-postgres.js";

const TRIALS = 40;
const AT_ONCE = 8;

describe.each(["memory", "postgres"] as const)("Stops and commands, on two instances over %s,", (kind) => {
  let postgres: TestPostgres | undefined;
  let scenes: readonly ServiceScene[] = [];

  beforeEach(async () => {
    vi.stubEnv("THROUGHLINE_OFFLINE_PACE_MS", "0");
    postgres = kind === "postgres" ? await openTestPostgres() : undefined;
    const store: ServiceStore = postgres
      ? { kind: "postgres", databaseUrl: postgres.url }
      : {
          kind: "memory",
          shared: { database: createMemoryDatabase(), checkpointer: createMemoryCheckpointer() },
        };
    scenes = await Promise.all([openServiceScene({ store }), openServiceScene({ store })]);
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await Promise.all(scenes.map((scene) => scene.close()));
    await postgres?.close();
  });

  it("P56, P58, P60: lose nothing, run one at a time and end, in the first milliseconds of a run", {
    timeout: 120_000,
  }, async () => {
    const [here, there] = scenes;
    if (!here || !there) throw new Error("two instances");
    const atOnce = fc.array(commandTrials, { minLength: AT_ONCE, maxLength: AT_ONCE });
    await fc.assert(
      fc.asyncProperty(atOnce, async (trials) => {
        await Promise.all(trials.map((trial) => tryCommands({ here, there }, trial)));
      }),
      // A stop that was lost is a trial that does not end.
      { numRuns: TRIALS / AT_ONCE, endOnFailure: true, timeout: 30_000 },
    );
  });
});
