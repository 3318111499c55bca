import { expect, it } from "vitest";
import { SEED } from "../e2e/server/rig/trials.js";
import { reportOf, tableOf } from "./report.js";
import { runChaos } from "./run-chaos.js";
import { saveFailure } from "./save-failure.js";

it("seconds of faults under two instances lose, double, hang and mix up nothing", async () => {
  const result = await runChaos({
    seed: SEED,
    durationMs: 10_000,
    instances: [{ name: "full" }, { name: "api", roles: "api" }],
    withLitellm: false,
    withReplica: false,
    clockLibrary: undefined,
    without: [],
    roomsAtOnce: 4,
    deedsPerRoom: 2,
    faultScale: 0.25,
    patienceMs: 60_000,
    progress: () => {},
  });
  process.stdout.write(`Chaos, seed ${SEED}\n${tableOf(reportOf(result, []))}\n`);
  const again = `THROUGHLINE_SEED=${SEED} npx vitest run chaos/chaos.test.ts`;
  if (result.findings.length > 0) saveFailure(result, again, new Date());
  expect(result.findings).toEqual([]);
  expect(result.faults.length).toBeGreaterThan(3);
  expect(result.history.threads.flatMap(({ runs }) => runs).length).toBeGreaterThan(3);
}, 240_000);
