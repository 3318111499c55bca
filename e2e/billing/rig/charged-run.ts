import type { MeteredRun, UsageUnit } from "@throughline/billing";
import { expect } from "vitest";
import { spendOf, TOKENS } from "./litellm-rig.js";
import { hashKey, type MeteredScene } from "./metered-scene.js";

/** A run's units and receipts beside what LiteLLM recorded of it. */
export interface ChargedRun {
  units(): Promise<readonly UsageUnit[]>;
  /** Resolves when LiteLLM has recorded that many calls. */
  untilLogged(count: number): Promise<void>;
  /** The run's receipts are what LiteLLM recorded, under the right key, with our labels, each once. */
  expectToAgree(): Promise<void>;
  /** What is in doubt is priced as LiteLLM priced it. */
  expectToBeReconciled(rows: number): Promise<void>;
}

const STATES = ["in_doubt", "settled", "unresolved", "written_off"] as const;
const SOON = { timeout: 20_000 };

export function chargedRun(scene: MeteredScene, run: MeteredRun): ChargedRun {
  const { ledger } = scene;
  const { runId } = run;

  async function units(): Promise<readonly UsageUnit[]> {
    const lists = await Promise.all(
      STATES.map((state) => ledger.list({ state, olderThanMs: -60_000, limit: 1_000 })),
    );
    return lists.flat().filter((unit) => unit.runId === runId);
  }

  async function untilLogged(count: number): Promise<void> {
    await expect.poll(() => scene.logged(runId).length, SOON).toBeGreaterThanOrEqual(count);
  }

  async function expectToAgree(): Promise<void> {
    const own = await units();
    const rows = scene.logged(runId);
    const account = run.caller.billingAccountId;
    for (const row of rows) {
      const unit = own.find(({ unitId }) => unitId === row.call_id);
      expect(row.key_hash).toBe(hashKey(TOKENS[account] ?? ""));
      expect(row.labels).toEqual({
        accountId: account,
        virtualKeyId: run.caller.virtualKeyId,
        runId,
        attempt: run.attempt,
        usageUnitId: unit?.unitId,
        threadId: run.threadId,
        requestId: run.ingressRequestId,
        traceId: run.caller.traceId,
        executorType: "inproc",
      });
    }
    const bill = await ledger.billOf(runId);
    expect(bill.amount).toBe(spendOf(rows));
    expect(bill.inputTokens).toBe(rows.reduce((sum, row) => sum + row.input_tokens, 0));
    expect(bill.outputTokens).toBe(rows.reduce((sum, row) => sum + row.output_tokens, 0));
    const receipts = await ledger.receipts(runId);
    expect(receipts).toHaveLength(own.filter(({ state }) => state === "settled").length);
    expect(new Set(receipts.map(({ sourceReference }) => sourceReference)).size).toBe(receipts.length);
    // Reading the log changes nothing that the meter knew.
    await scene.reconcileNow();
    expect((await ledger.billOf(runId)).amount).toBe(bill.amount);
    for (const { unitId } of own) expect(await ledger.corrections(unitId)).toEqual([]);
  }

  async function unpricedAfterPass(): Promise<number> {
    await scene.reconcileNow();
    return (await ledger.billOf(runId)).unpriced;
  }

  return {
    units,
    untilLogged,
    expectToAgree,
    async expectToBeReconciled(rows) {
      await untilLogged(rows);
      await expect.poll(unpricedAfterPass, SOON).toBe(0);
      await expectToAgree();
    },
  };
}
