import type { ChargeReceipt, UsageUnit } from "@throughline/billing";
import { type LoggedCall, spendOf } from "./litellm-rig.js";

/** What the service booked, beside what LiteLLM and its upstream say themselves. All calls are over and reconciled. */
export interface Charges {
  readonly units: readonly Pick<
    UsageUnit,
    "unitId" | "account" | "runId" | "keyHash" | "state" | "reason" | "evidence" | "billed"
  >[];
  readonly receipts: readonly Pick<ChargeReceipt, "sourceReference">[];
  readonly logged: readonly LoggedCall[];
  /** Rows of LiteLLM's under the tenants' keys that no unit claims. */
  readonly unclaimed: readonly unknown[];
  /** `outcome` of each request that reached the upstream. */
  readonly upstream: readonly string[];
  keyHashOf(account: string): string;
}

export interface ChargeCounts {
  /** Answered in full by the upstream. */
  readonly whole: number;
  readonly priced: number;
  /** Without a price, for a person to look at. */
  readonly listed: number;
}

export function countCharges({ units, upstream }: Pick<Charges, "units" | "upstream">): ChargeCounts {
  return {
    whole: upstream.filter((outcome) => outcome === "whole").length,
    priced: units.filter(({ billed }) => billed !== null && billed > 0n).length,
    listed: units.filter(({ state }) => state === "unresolved").length,
  };
}

/** Every disagreement between receipts, LiteLLM's own record and the upstream's count, in words. */
export function chargeProblems(charges: Charges): readonly string[] {
  const { units, receipts, logged, unclaimed, upstream, keyHashOf } = charges;
  const problems: string[] = [];
  for (const unit of units) {
    const own = logged.filter(({ call_id }) => call_id === unit.unitId);
    const say = (problem: string) => problems.push(`call ${unit.unitId} of run ${unit.runId}: ${problem}`);
    if (unit.keyHash !== keyHashOf(unit.account)) say(`not under the key of ${unit.account}`);
    if (unit.state === "in_doubt") say("still in doubt");
    for (const { key_hash, labels } of own) {
      if (key_hash !== unit.keyHash) say("LiteLLM charged another key");
      if (labels.accountId !== unit.account) say(`LiteLLM's label says account ${labels.accountId}`);
      if (labels.runId !== unit.runId) say(`LiteLLM's label says run ${labels.runId}`);
    }
    if (own.length > 0) {
      if (unit.state !== "settled" || unit.billed !== spendOf(own))
        say(`LiteLLM recorded ${spendOf(own)}, the receipt says ${unit.billed} (${unit.state})`);
    } else if (unit.state === "unresolved") {
      if (unit.reason !== "no_evidence") say(`unresolved because of ${unit.reason}`);
    } else if (!/^(not_sent|response_header|last_event)$/.test(unit.evidence ?? "")) {
      // LiteLLM was killed after it had answered and before it logged, or was never reached.
      say(`LiteLLM has no row, and the evidence is ${unit.evidence}`);
    }
  }
  const settled = units.filter(({ state }) => state === "settled").map(({ unitId }) => unitId);
  const charged = receipts.map(({ sourceReference }) => sourceReference);
  for (const unitId of settled) {
    const times = charged.filter((one) => one === unitId).length;
    if (times !== 1) problems.push(`call ${unitId} is settled and has ${times} receipts`);
  }
  const known = new Set(settled);
  for (const one of charged.filter((each) => !known.has(each)))
    problems.push(`a receipt is of call ${one}, which is not settled`);
  for (const row of unclaimed) problems.push(`no call claims LiteLLM's row ${JSON.stringify(row)}`);
  // The upstream's own count: what it answered in full was charged, or is listed where LiteLLM lost its row.
  const { whole, priced, listed } = countCharges(charges);
  const answered = upstream.filter((outcome) => outcome !== "refused").length;
  if (whole > priced + listed)
    problems.push(
      `the upstream answered ${whole} calls in full; ${priced} have a price, ${listed} are listed`,
    );
  if (priced > answered)
    problems.push(`${priced} calls have a price; the upstream answered ${answered} at all`);
  return problems;
}
