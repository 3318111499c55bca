import type { SimulatedClock } from "@throughline/ai-core";
import fc from "fast-check";
import { beforeEach, expect, it } from "vitest";
import { type LedgerStore, type NewUnit, NO_USAGE_SEEN } from "../ledger/ledger.js";

import type { FactStore } from "../reconcile/fact-store.js";
import { type ReconcilerOptions, reconcile } from "../reconcile/reconcile.js";
import type { SpendSource } from "../reconcile/spend-log.js";
import { growingLog } from "../testing/growing-log.js";
import { madeFact, madeFailure } from "../testing/made-fact.js";
import { madeCharge, madeUnit } from "../testing/made-unit.js";

interface Stores {
  readonly ledger: LedgerStore;
  readonly facts: FactStore;
  /** The clock that decides on ages. */
  readonly clock: SimulatedClock;
}

/** Reconciliation is the same on every pair of stores. */
export function runReconcileConformance(open: () => Promise<Stores>, trials: number): void {
  let stores: Stores;
  let log: ReturnType<typeof growingLog>;
  beforeEach(async () => {
    stores = await open();
    log = growingLog();
  });

  const pass = (options: Partial<ReconcilerOptions> = {}) =>
    reconcile({ ...stores, source: log, graceMs: 0, longestCallMs: 0, decideAfterMs: 0, ...options });

  async function doubted(fields: Partial<NewUnit> = {}, seen = NO_USAGE_SEEN): Promise<NewUnit> {
    const unit = madeUnit(fields);
    await stores.ledger.open(unit);
    await stores.ledger.doubt(unit.unitId, "aborted", seen);
    // The database's clock goes on by itself; the simulated one must not be behind it.
    stores.clock.advance(Math.max(0, Date.now() + 1_000 - stores.clock.now()));
    return unit;
  }

  async function find({ unitId }: NewUnit) {
    const [unit] = await stores.ledger.find([unitId]);
    return unit;
  }

  it("charges what the log tells of a unit, once, however often it is read", async () => {
    const unit = await doubted();
    log.rows.push(madeFact(unit));
    expect(await pass()).toMatchObject({ charged: 1, corrected: 0, unresolved: 0 });
    await stores.facts.setPosition("logger", "0");
    expect(await pass()).toMatchObject({ charged: 0, corrected: 0 });
    expect(await find(unit)).toMatchObject({ state: "settled", billed: 17_000_000n, evidence: "logger" });
    expect(await stores.ledger.receipts(unit.runId)).toHaveLength(1);
  });

  it("sees a failure and the success that follows it in another pass together", async () => {
    const unit = await doubted();
    log.rows.push(madeFailure(unit));
    await pass({ graceMs: 60_000 });
    expect(await find(unit)).toMatchObject({ state: "in_doubt" });
    log.rows.push(madeFact(unit, { spend: 5n }));
    await pass({ graceMs: 60_000 });
    expect(await find(unit)).toMatchObject({ state: "settled", billed: 5n });
  });

  it("corrects a receipt that the log disagrees with, by a row", async () => {
    const unit = await doubted();
    await stores.ledger.charge(unit.unitId, madeCharge(1n));
    log.rows.push(madeFact(unit, { spend: 4n }));
    expect(await pass()).toMatchObject({ corrected: 1 });
    expect((await stores.ledger.corrections(unit.unitId)).map(({ delta }) => delta)).toEqual([3n]);
    expect((await stores.ledger.receipts(unit.runId)).map(({ amount }) => amount)).toEqual([1n]);
  });

  it("gives up on a unit only when the log is known to be whole, and charges it if a row comes late", async () => {
    const unit = await doubted();
    log.isWhole = false;
    await pass();
    expect(await find(unit)).toMatchObject({ state: "in_doubt" });
    log.isWhole = true;
    expect(await pass()).toMatchObject({ unresolved: 1 });
    expect(await find(unit)).toMatchObject({ state: "unresolved", reason: "no_evidence" });
    log.rows.push(madeFact(unit));
    expect(await pass()).toMatchObject({ charged: 1 });
  });

  it("leaves a call alone that may still be under way", async () => {
    const unit = madeUnit();
    await stores.ledger.open(unit);
    await pass({ longestCallMs: 900_000 });
    expect(await find(unit)).toMatchObject({ state: "in_doubt" });
  });

  it.each([
    ["list", "unresolved", null],
    ["write_off", "written_off", null],
    ["estimate", "settled", 11n * 2n + 3n * 5n],
  ] as const)("applies the account's policy: %s", async (policy, state, billed) => {
    const unit = await doubted(
      {},
      { ...NO_USAGE_SEEN, inputTokens: 11, outputTokens: 3, servedModel: "cheap" },
    );
    await pass({
      policyOf: (account) => (account === unit.account ? policy : "list"),
      pricesOf: (model) => (model === "cheap" ? { inputPrice: 2n, outputPrice: 5n } : undefined),
    });
    expect(await find(unit)).toMatchObject({ state, billed });
    if (policy !== "estimate") return;
    expect(await find(unit)).toMatchObject({ evidence: "estimate" });
    log.rows.push(madeFact(unit, { spend: 40n }));
    expect(await pass()).toMatchObject({ corrected: 1 });
    expect(await find(unit)).toMatchObject({ billed: 40n });
  });

  it("estimates nothing of which it does not know the tokens", async () => {
    const unit = await doubted();
    await pass({ policyOf: () => "estimate", pricesOf: () => ({ inputPrice: 1n, outputPrice: 1n }) });
    expect(await find(unit)).toMatchObject({ state: "unresolved" });
  });

  it("never takes an unpriced answer for a free one", async () => {
    const unpriced = await doubted({ model: "unpriced" });
    const free = await doubted({ model: "free" });
    log.rows.push(
      madeFact(unpriced, { spend: 0n, modelGroup: "unpriced" }),
      madeFact(free, { spend: 0n, modelGroup: "free" }),
    );
    await pass({ pricesOf: (model) => (model === "free" ? { inputPrice: 0n, outputPrice: 0n } : undefined) });
    expect(await find(unpriced)).toMatchObject({ state: "unresolved", reason: "unpriced" });
    expect(await find(free)).toMatchObject({ state: "settled", billed: 0n });
  });

  it("lists rows of our keys that no unit claims, and leaves strangers' alone", async () => {
    const unit = await doubted({ keyHash: "ours" });
    log.rows.push(
      madeFact(unit, { callId: "escaped", unitId: null }),
      madeFact(unit, { unitId: "another's" }),
      madeFact(unit, { callId: "not-ours", unitId: null, keyHash: "stranger" }),
      madeFailure(unit, { callId: "refused by LiteLLM itself", unitId: null }),
    );
    expect(await pass()).toMatchObject({ unclaimed: 2, charged: 0, unresolved: 1 });
    const listed = await stores.facts.unclaimed(10);
    expect(new Set(listed.map(({ callId }) => callId))).toEqual(new Set(["escaped", unit.unitId]));
  });

  it("never charges a unit by the row of another key, even with its call id and label", async () => {
    const unit = await doubted({ keyHash: "ours" });
    await doubted({ keyHash: "other tenant" });
    log.rows.push(madeFact(unit, { keyHash: "other tenant", spend: 9_999n }));
    await pass();
    expect(await find(unit)).toMatchObject({ state: "unresolved", billed: null });
    expect(await stores.facts.unclaimed(10)).toHaveLength(1);
  });

  it("knows LiteLLM's master key by the word that its log has for it", async () => {
    const unit = await doubted({ keyHash: "hash of the master key" });
    log.rows.push(madeFact(unit, { keyHash: "litellm_proxy_master_key" }));
    expect(await pass({ masterKeyHash: "hash of the master key" })).toMatchObject({
      charged: 1,
      unclaimed: 0,
    });
  });

  it("asks a source for units it has no row of, where that can be asked", async () => {
    const unit = await doubted();
    const asked: string[] = [];
    const source: SpendSource = {
      ...log,
      isComplete: async () => true,
      factsOf: async (ids) => {
        asked.push(...ids);
        return [madeFact(unit)];
      },
    };
    expect(await pass({ source })).toMatchObject({ charged: 1, unresolved: 0 });
    expect(asked).toEqual([unit.unitId]);
  });

  it("forgets claimed rows when they are old, and keeps the others", async () => {
    const unit = await doubted();
    log.rows.push(madeFact(unit), madeFact(unit, { callId: "escaped", unitId: null }));
    await pass();
    expect(await stores.facts.prune(2_000_000, 10)).toBe(1);
    expect(await stores.facts.unclaimed(10)).toHaveLength(1);
  });

  it("ends with one receipt per priced call, in whichever order rows, prices and passes come", async () => {
    const step = fc.constantFrom("row", "pass", "meter", "again");
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(3), step), { maxLength: 24 }), async (steps) => {
        stores = await open();
        log = growingLog();
        const units = [await doubted(), await doubted(), await doubted(), await doubted()];
        for (const [index, kind] of steps) {
          const unit = units[index];
          if (!unit) continue;
          if (kind === "row") log.rows.push(madeFact(unit, { spend: 7n }));
          if (kind === "meter") await stores.ledger.charge(unit.unitId, madeCharge(7n));
          if (kind === "pass") await pass({ graceMs: 3_600_000, longestCallMs: 3_600_000 });
          if (kind === "again") await stores.facts.setPosition("logger", "0");
        }
        for (const unit of units) log.rows.push(madeFact(unit, { spend: 7n }));
        await Promise.all([pass(), pass()]);
        for (const unit of units) {
          expect(await find(unit)).toMatchObject({ state: "settled", billed: 7n });
          expect(await stores.ledger.corrections(unit.unitId)).toEqual([]);
        }
        expect(await stores.ledger.receipts("run-1")).toHaveLength(units.length);
      }),
      { numRuns: trials },
    );
  });
}
