import { createSimulatedClock } from "@throughline/ai-core";
import { beforeEach, describe, expect, it } from "vitest";
import { environmentKeys, hashKey } from "../keys/resolvers.js";

import type { LedgerStore, NewUnit } from "../ledger/ledger.js";

import { type AttributableRun, createAdoption } from "../reconcile/adopt.js";
import type { FactStore } from "../reconcile/fact-store.js";
import { type ReconcilerOptions, reconcile } from "../reconcile/reconcile.js";
import type { SpendFact } from "../reconcile/spend-log.js";
import { growingLog } from "../testing/growing-log.js";
import { madeFact, madeFailure, madeLabels } from "../testing/made-fact.js";
import { madeCharge, madeUnit } from "../testing/made-unit.js";

const KEYS = environmentKeys(
  '{"vk-a":{"token":"sk-a","account":"acct-a"},"vk-b":{"token":"sk-b","account":"acct-b"}}',
);

function runOf(account: "a" | "b"): AttributableRun {
  return {
    runId: `run-${account}`,
    account: `acct-${account}`,
    subject: `person-${account}`,
    virtualKeyId: `vk-${account}`,
    threadId: `thread-${account}`,
    graphId: "langgraph:chat",
  };
}

/** The call of a run on a LangGraph server, as it would be recorded if a meter were there. */
function madeCall(account: "a" | "b", fields: Partial<NewUnit> = {}): NewUnit {
  return madeUnit({
    ...runOf(account),
    keyHash: hashKey(`sk-${account}`),
    ordinal: 0,
    model: null,
    executorType: "langgraph_server",
    ...fields,
  });
}

const labelled = (call: NewUnit, fields: Partial<SpendFact> = {}) =>
  madeFact(call, { labels: madeLabels(call), ...fields });

/** Calls of LangGraph servers are adopted alike on every pair of stores. */
export function runAdoptionConformance(
  open: () => Promise<{ readonly ledger: LedgerStore; readonly facts: FactStore }>,
): void {
  let stores: Awaited<ReturnType<typeof open>>;
  let log: ReturnType<typeof growingLog>;
  let registry: Map<string, AttributableRun>;
  beforeEach(async () => {
    stores = await open();
    log = growingLog();
    registry = new Map([runOf("a"), runOf("b")].map((run) => [run.runId, run]));
  });

  const adopt = createAdoption({ findRun: async ({ runId }) => registry.get(runId), keys: KEYS });
  // Ahead of the database's own clock: what has ended is old enough to be judged, what may be under way is not.
  const clock = createSimulatedClock(Date.now() + 60_000);
  const pass = (options: Partial<ReconcilerOptions> = {}) =>
    reconcile({ ...stores, source: log, graceMs: 0, clock, adopt, ...options });
  const find = async ({ unitId }: NewUnit) => (await stores.ledger.find([unitId]))[0];
  const readAgain = () => stores.facts.setPosition("logger", "0");

  it("charges a call that a run of ours made there, once, however often its row is read", async () => {
    const call = madeCall("a");
    log.rows.push(labelled(call));
    expect(await pass()).toMatchObject({ adopted: 1, charged: 1, unclaimed: 0, unresolved: 0 });
    expect(await find(call)).toMatchObject({
      ...call,
      state: "settled",
      billed: 17_000_000n,
      evidence: "logger",
      seen: { servedModel: "cheap", inputTokens: 11, outputTokens: 3 },
    });
    await readAgain();
    expect(await pass()).toMatchObject({ adopted: 0, charged: 0, corrected: 0 });
    expect(await stores.ledger.receipts("run-a")).toHaveLength(1);
    expect(await stores.facts.unclaimed(10)).toEqual([]);
  });

  it("charges it once though two passes read it at the same time", async () => {
    const call = madeCall("a");
    log.rows.push(labelled(call));
    const reports = await Promise.all([pass(), pass()]);
    expect(reports.reduce((sum, { charged }) => sum + charged, 0)).toBe(1);
    expect(await stores.ledger.receipts("run-a")).toHaveLength(1);
  });

  it("charges nothing for one that failed, and the price of the try that succeeded", async () => {
    const failed = madeCall("a");
    const retried = madeCall("a");
    log.rows.push(
      madeFailure(failed, { labels: madeLabels(failed) }),
      madeFailure(retried, { labels: madeLabels(retried) }),
      labelled(retried, { spend: 5n }),
    );
    expect(await pass()).toMatchObject({ adopted: 2 });
    expect(await find(failed)).toMatchObject({ state: "settled", billed: 0n });
    expect(await find(retried)).toMatchObject({ state: "settled", billed: 5n });
  });

  describe("of a run that owes calls", () => {
    const LATER_MS = 16 * 60_000;
    const owing = { ...runOf("a"), modelCalls: 2 };
    const listed = () => stores.ledger.listUnbilled({ limit: 9 });

    it("the run is billed once all of its rows came", async () => {
      await stores.ledger.addUnbilled(owing);
      expect(await pass()).toMatchObject({ awaited: 2, billingFailed: 0 });
      log.rows.push(labelled(madeCall("a")));
      expect(await pass()).toMatchObject({ awaited: 1, billingFailed: 0 });
      expect(await listed()).toMatchObject([{ state: "awaited", missing: 1 }]);
      log.rows.push(labelled(madeCall("a")));
      expect(await pass()).toMatchObject({ awaited: 0, billingFailed: 0 });
      expect(await listed()).toEqual([]);
    });

    it("billing fails once where rows are lost, and the run is listed until they come after all", async () => {
      const failed: string[] = [];
      const late = (options: Partial<ReconcilerOptions> = {}) =>
        pass({
          clock: createSimulatedClock(Date.now() + LATER_MS),
          onBillingFailed: ({ runId, missing }) => failed.push(`${runId} ${missing}`),
          ...options,
        });
      log.rows.push(labelled(madeCall("a")));
      await stores.ledger.addUnbilled(owing);
      log.isWhole = false;
      expect(await late()).toMatchObject({ awaited: 1, billingFailed: 0 });
      log.isWhole = true;
      const reports = await Promise.all([late(), late()]);
      expect(reports.reduce((sum, { billingFailed }) => sum + billingFailed, 0)).toBe(1);
      expect(await late()).toMatchObject({ awaited: 0, billingFailed: 0 });
      expect(failed).toEqual(["run-a 1"]);
      expect(await listed()).toMatchObject([{ state: "billing_failed", missing: 1 }]);
      log.rows.push(labelled(madeCall("a")));
      expect(await late()).toMatchObject({ adopted: 1, charged: 1, billingFailed: 0 });
      expect(await listed()).toEqual([]);
    });

    it("an account that writes off what has no price does not list it", async () => {
      await stores.ledger.addUnbilled(owing);
      const clock = createSimulatedClock(Date.now() + LATER_MS);
      expect(await pass({ clock, policyOf: () => "write_off" })).toMatchObject({ billingFailed: 2 });
      expect(await listed()).toEqual([]);
    });
  });

  const forgeries: readonly [string, (call: NewUnit) => SpendFact][] = [
    [
      "another account's run",
      (call) =>
        labelled(call, { labels: { ...madeLabels(call), accountId: "acct-b", virtualKeyId: "vk-b" } }),
    ],
    ["another account's key", (call) => labelled(call, { keyHash: hashKey("sk-b") })],
    [
      "another account's key under its id",
      (call) =>
        labelled(call, { keyHash: hashKey("sk-b"), labels: { ...madeLabels(call), virtualKeyId: "vk-b" } }),
    ],
    [
      "a run that does not exist",
      (call) => labelled(call, { labels: { ...madeLabels(call), runId: "run-unknown" } }),
    ],
    [
      "another call's id",
      (call) => labelled(call, { labels: { ...madeLabels(call), usageUnitId: madeUnit().unitId } }),
    ],
  ];
  it.each(forgeries)("refuses and lists a call that claims %s", async (_, forge) => {
    const call = madeCall("a");
    log.rows.push(forge(call));
    expect(await pass()).toMatchObject({ adopted: 0, charged: 0, unclaimed: 1 });
    expect(await find(call)).toBeUndefined();
    const [{ labels, ...listed } = { labels: {} }] = await stores.facts.unclaimed(10);
    expect(log.rows).toMatchObject([{ ...listed, labels }]);
    // Receipts and rows outlive a deleted thread, without what leads to it.
    expect(Object.keys(labels).sort()).toEqual(
      ["accountId", "attempt", "executorType", "runId", "usageUnitId", "virtualKeyId"].sort(),
    );
    for (const runId of ["run-a", "run-b"]) expect(await stores.ledger.receipts(runId)).toEqual([]);
  });

  it.each<[string, (call: NewUnit) => SpendFact]>([
    ["of a process with a meter", (call) => labelled({ ...call, executorType: "inproc" })],
    [
      "without an account",
      (call) => labelled(call, { labels: { ...madeLabels(call), accountId: undefined } }),
    ],
    ["under an id that is no uuid of ours", (call) => labelled({ ...call, unitId: "u1" })],
    [
      "under an id that the ledger would spell otherwise",
      (call) => labelled({ ...call, unitId: call.unitId.toUpperCase() }),
    ],
  ])("never adopts a call %s", async (_, forge) => {
    log.rows.push(forge(madeCall("a")));
    expect(await pass()).toMatchObject({ adopted: 0, charged: 0, unclaimed: 0 });
  });

  it("never touches a unit that is there, whatever a label says of its id", async () => {
    const metered = madeUnit({ ...runOf("b"), keyHash: hashKey("sk-b") });
    await stores.ledger.open(metered);
    await stores.ledger.charge(metered.unitId, madeCharge(3n));
    log.rows.push(labelled(madeCall("a", { unitId: metered.unitId }), { spend: 9_999n }));
    expect(await pass()).toMatchObject({ adopted: 0, charged: 0, corrected: 0 });
    expect(await find(metered)).toMatchObject({ account: "acct-b", billed: 3n });
    expect(await stores.ledger.receipts("run-a")).toEqual([]);
  });

  it("adopts a call that was refused, if it is read again when its run is known", async () => {
    const call = madeCall("a");
    const run = runOf("a");
    log.rows.push(labelled(call));
    registry.delete(run.runId);
    expect(await pass()).toMatchObject({ adopted: 0, unclaimed: 1 });
    registry.set(run.runId, run);
    await readAgain();
    expect(await pass()).toMatchObject({ adopted: 1, charged: 1, unclaimed: 0 });
    expect(await stores.facts.unclaimed(10)).toEqual([]);
    expect(await stores.ledger.receipts(run.runId)).toHaveLength(1);
  });

  it("reads no further while runs can't be looked up, and misses nothing", async () => {
    const call = madeCall("a");
    log.rows.push(labelled(call));
    const away = pass({ adopt: () => Promise.reject(new Error("away")) });
    await expect(away).rejects.toThrow("away");
    expect(await stores.facts.position("logger")).toBeUndefined();
    expect(await pass()).toMatchObject({ adopted: 1, charged: 1 });
  });

  it("refuses a run's call when the run has no key any more", async () => {
    const call = madeCall("a");
    registry.set("run-a", { ...runOf("a"), virtualKeyId: "vk-gone" });
    log.rows.push(labelled(call, { labels: { ...madeLabels(call), virtualKeyId: "vk-gone" } }));
    expect(await pass()).toMatchObject({ adopted: 0, unclaimed: 1 });
  });
}
