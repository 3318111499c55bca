import { spawn } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { UNIT_STATES } from "@throughline/billing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ensureLitellm } from "../../scripts/ensure-litellm.mjs";
import { SEED, seededRandom, trialsOr } from "../server/rig/trials.js";
import { type MeteredScene, openMeteredScene, TOKENS } from "./rig/metered-scene.js";

const missing = await ensureLitellm();
if (missing !== undefined && process.env.CI === "true") throw new Error(missing);
if (missing !== undefined) console.warn(`Skipped: ${missing}`);

const CHILD = fileURLToPath(new URL("rig/metered-child.mjs", import.meta.url));
const CALLS = 12;
const KINDS = [
  "tokens=2",
  "tokens=20 delay=20",
  "tokens=8 delay=60",
  "tokens=10 failAfter=4 delay=20 mode=cut",
  "tokens=6 failAfter=2 mode=error",
  "status=500",
];

/** A run whose process is killed once and which goes on in another process, as the next attempt. */
async function driveKilledRun(scene: MeteredScene, random: () => number, index: number): Promise<void> {
  const account = index % 2 === 0 ? "ann" : "bob";
  const run = scene.newRun(account);
  const pick = (below: number) => Math.floor(random() * below);
  const newCalls = () =>
    Array.from({ length: CALLS }, () => ({ prompt: KINDS[pick(KINDS.length)], stream: random() < 0.7 }));
  const killAfterMs = 300 + pick(2_500);
  for (const attempt of [0, 1]) {
    const work = {
      databaseUrl: scene.databaseUrl,
      litellmUrl: scene.litellm.url,
      run: { ...run, attempt },
      token: TOKENS[account],
      calls: newCalls(),
    };
    const child = spawn(process.execPath, [CHILD, JSON.stringify(work)], { stdio: "inherit" });
    const gone = new Promise((resolve) => child.once("exit", resolve));
    if (attempt === 0) {
      // The kill is to hit calls under way, not the process while it starts.
      await expect
        .poll(async () => (await scene.ledger.billOf(run.runId)).calls, { timeout: 60_000 })
        .toBeGreaterThan(0);
      await delay(killAfterMs);
      child.kill("SIGKILL");
    }
    await gone;
  }
}

describe.skipIf(missing !== undefined)("billing, killed", () => {
  let scene: MeteredScene;
  beforeAll(async () => {
    scene = await openMeteredScene();
  }, 300_000);
  afterAll(() => scene?.close());

  async function allUnits() {
    const lists = await Promise.all(
      UNIT_STATES.map((state) => scene.ledger.list({ state, olderThanMs: -60_000, limit: 10_000 })),
    );
    return lists.flat();
  }

  it("ends with what LiteLLM recorded, each call once, and every doubt listed", async () => {
    const runs = trialsOr(6);
    const random = seededRandom(SEED);
    for (let index = 0; index < runs; index++) {
      const driving = driveKilledRun(scene, random, index);
      if (index === Math.floor(runs / 2)) {
        await expect
          .poll(() => scene.upstream.calls.some(({ outcome, sent }) => outcome === "open" && sent > 0), {
            timeout: 60_000,
            interval: 10,
          })
          .toBe(true);
        await scene.litellm.kill();
        await scene.litellm.start();
      }
      await driving;
    }
    // What a killed process left is over once the upstream has seen the last of it, and LiteLLM has logged it.
    await expect
      .poll(() => scene.upstream.calls.filter(({ outcome }) => outcome === "open").length, {
        timeout: 60_000,
      })
      .toBe(0);
    let rows = -1;
    await expect
      .poll(
        () => {
          const before = rows;
          rows = scene.logged().length;
          return rows === before;
        },
        { interval: 3_000, timeout: 60_000 },
      )
      .toBe(true);
    await scene.reconcileNow();
    await scene.reconcileNow();

    const units = await allUnits();
    const logged = scene.logged();
    expect(units.length).toBeGreaterThan(runs * CALLS);
    expect(units.filter(({ state }) => state === "in_doubt")).toEqual([]);
    expect(units.filter(({ state }) => state === "written_off")).toEqual([]);
    for (const unit of units) {
      const own = logged.filter(({ call_id }) => call_id === unit.unitId);
      const spend = own.reduce((sum, row) => sum + BigInt(Math.round(row.spend * 1e12)), 0n);
      if (own.length > 0) expect([unit.state, unit.billed]).toEqual(["settled", spend]);
      else if (unit.state === "unresolved") expect(unit.reason).toBe("no_evidence");
      else expect([unit.evidence, unit.billed]).toEqual(["not_sent", 0n]);
      expect(await scene.ledger.corrections(unit.unitId)).toEqual([]);
    }
    const runIds = [...new Set(units.map(({ runId }) => runId))];
    const receipts = (await Promise.all(runIds.map((runId) => scene.ledger.receipts(runId)))).flat();
    expect(receipts).toHaveLength(units.filter(({ state }) => state === "settled").length);
    const charged = receipts.reduce((sum, { amount }) => sum + amount, 0n);
    expect(charged).toBe(logged.reduce((sum, row) => sum + BigInt(Math.round(row.spend * 1e12)), 0n));
    expect(await scene.facts.unclaimed(10)).toEqual([]);

    // The upstream's own count: what it answered in full was charged, or is listed where LiteLLM lost its row.
    const whole = scene.upstream.calls.filter(({ outcome }) => outcome === "whole").length;
    const priced = units.filter(({ billed }) => billed !== null && billed > 0n).length;
    const listed = units.filter(({ state }) => state === "unresolved").length;
    console.log(
      `${units.length} calls: ${priced} with a price, ${listed} listed; the upstream answered ${whole} in full.`,
    );
    // LiteLLM was killed under at least one call.
    expect(listed).toBeGreaterThan(0);
    expect(whole).toBeLessThanOrEqual(priced + listed);
    expect(priced).toBeLessThanOrEqual(
      scene.upstream.calls.filter(({ outcome }) => outcome !== "refused").length,
    );
  }, 900_000);
});
