import { describe, expect, it } from "vitest";
import { NO_USAGE_SEEN, type UsageUnit } from "../ledger/ledger.js";
import { madeFact, madeFailure } from "../testing/made-fact.js";
import { madeUnit } from "../testing/made-unit.js";
import { decideCharge } from "./reconcile.js";
import { isFactOf, type SpendFact } from "./spend-log.js";

const NEW = madeUnit();
const DOUBT: UsageUnit = {
  ...NEW,
  openedAt: 0,
  state: "in_doubt",
  reason: "aborted",
  doubtedAt: 0,
  seen: NO_USAGE_SEEN,
  evidence: null,
  billed: null,
};
const settled = (billed: bigint): UsageUnit => ({
  ...DOUBT,
  state: "settled",
  billed,
  evidence: "last_event",
});
const unresolved: UsageUnit = { ...DOUBT, state: "unresolved" };

function judge(unit: UsageUnit, facts: readonly SpendFact[], isOld = false): string {
  const judgement = decideCharge(unit, facts, { isOld, isFree: (model) => model === "free" });
  switch (judgement.kind) {
    case "leave":
      return "leave";
    case "charge":
      return `charge ${judgement.amount}`;
    case "correct":
      return `correct ${judgement.from} to ${judgement.amount}`;
    case "give_up":
      return `give up: ${judgement.reason}`;
  }
}

describe("what rows of LiteLLM's log mean for a unit", () => {
  const fact = madeFact(NEW);
  const failure = madeFailure(NEW);
  const unpriced = madeFact(NEW, { spend: 0n });

  it.each<[string, string, string]>([
    ["none, and it is young", judge(DOUBT, []), "leave"],
    ["none, and it is old", judge(DOUBT, [], true), "give up: no_evidence"],
    ["none, and it is unresolved already", judge(unresolved, [], true), "leave"],
    ["a success", judge(DOUBT, [fact]), "charge 17000000"],
    ["a success of an unresolved unit", judge(unresolved, [fact]), "charge 17000000"],
    ["a success of a unit that was written off", judge({ ...DOUBT, state: "written_off" }, [fact]), "leave"],
    ["a failure that a retry may follow", judge(DOUBT, [failure]), "leave"],
    ["a failure that none has followed", judge(DOUBT, [failure], true), "charge 0"],
    ["a failure with a cost", judge(DOUBT, [{ ...failure, spend: 5n }]), "charge 5"],
    ["a failure and the retry's success", judge(DOUBT, [failure, fact]), "charge 17000000"],
    ["a success of a client that left", judge(DOUBT, [{ ...fact, errorCode: "499" }]), "charge 17000000"],
    ["a cache hit", judge(DOUBT, [{ ...unpriced, isCacheHit: true }]), "charge 0"],
    ["an answer without a price", judge(DOUBT, [unpriced]), "give up: unpriced"],
    ["an answer of a free model", judge(DOUBT, [{ ...unpriced, modelGroup: "free" }]), "charge 0"],
    ["the same amount again", judge(settled(17_000_000n), [fact]), "leave"],
    ["another amount", judge(settled(5n), [fact]), "correct 5 to 17000000"],
    ["a success of what was taken for not sent", judge(settled(0n), [fact]), "correct 0 to 17000000"],
    ["only the failed try of what was priced", judge(settled(5n), [failure], true), "leave"],
    ["no price of what was priced", judge(settled(5n), [unpriced]), "leave"],
    [
      "a cache hit of what was priced in full",
      judge(settled(5n), [{ ...unpriced, isCacheHit: true }]),
      "correct 5 to 0",
    ],
  ])("%s", (_, judged, expected) => {
    expect(judged).toBe(expected);
  });

  it("are its tokens and its model too", () => {
    expect(
      decideCharge(DOUBT, [failure, madeFact(NEW, { modelGroup: "dear" })], {
        isOld: false,
        isFree: () => false,
      }),
    ).toMatchObject({
      seen: { servedModel: "dear", responseId: "chatcmpl-1", inputTokens: 11, outputTokens: 3 },
    });
  });

  it("count only if call id, label and key agree", () => {
    expect(isFactOf(NEW, fact)).toBe(true);
    for (const other of [{ callId: "x" }, { unitId: "x" }, { unitId: null }, { keyHash: "x" }]) {
      expect(isFactOf(NEW, { ...fact, ...other })).toBe(false);
    }
  });
});
