import type { LedgerStore } from "@throughline/billing";
import { expect } from "vitest";
import { type LoggedCall, spendOf } from "./litellm-rig.js";

export interface ExpectedReceipts {
  readonly ledger: LedgerStore;
  readonly runId: string;
  readonly account: string;
  /** Of the key that LiteLLM must have charged. */
  readonly keyHash: string;
}

/** The run's receipts are these rows of LiteLLM's: under its tenant's key, with its labels, each once. */
export async function expectReceiptsOf(
  rows: readonly LoggedCall[],
  expected: ExpectedReceipts,
): Promise<void> {
  const { ledger, runId, account, keyHash } = expected;
  for (const row of rows) {
    expect(row.key_hash).toBe(keyHash);
    expect(row.labels).toMatchObject({
      accountId: account,
      virtualKeyId: `vk-${account}`,
      runId,
      usageUnitId: row.call_id,
      executorType: "inproc",
    });
  }
  const receipts = await ledger.receipts(runId);
  const callIds = [...new Set(rows.map(({ call_id }) => call_id))];
  expect(receipts.map(({ sourceReference }) => sourceReference).sort()).toEqual(callIds.sort());
  const bill = await ledger.billOf(runId);
  expect(bill).toMatchObject({ calls: callIds.length, unpriced: 0, amount: spendOf(rows) });
  for (const callId of callIds) expect(await ledger.corrections(callId)).toEqual([]);
}
