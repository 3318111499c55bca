import { type Clock, systemClock } from "@throughline/ai-core";
import type { Charge, LedgerStore, ResponseUsage, UnbilledRun, UsageUnit } from "../ledger/ledger.js";
import type { Picodollars } from "../ledger/money.js";
import { type AttributeCall, attributeCalls } from "./adopt.js";
import type { FactStore } from "./fact-store.js";
import { isFactOf, type SpendFact, type SpendSource } from "./spend-log.js";

/**
 * Policy for a call that LiteLLM has no price for: listed until an operator decides, charged nothing, or charged by its tokens
 * and list price where both are known.
 */
export type UnresolvedPolicy = "list" | "write_off" | "estimate";

export interface ModelPrices {
  readonly inputPrice: Picodollars | null;
  readonly outputPrice: Picodollars | null;
}

export interface ReconcilerOptions {
  readonly ledger: LedgerStore;
  readonly facts: FactStore;
  readonly source: SpendSource;
  /** Knows the runs of LangGraph servers, whose calls no meter records. Without it such calls are not charged. */
  readonly adopt?: AttributeCall;
  readonly policyOf?: (account: string) => UnresolvedPolicy;
  readonly pricesOf?: (model: string) => ModelPrices | undefined;
  /** A call that ended this long ago without a price or a row is unresolved. Default 60 s. */
  readonly graceMs?: number;
  /** The hash of LiteLLM's master key, where calls are made with it: its log has a constant for that key instead of the hash. */
  readonly masterKeyHash?: string;
  /** A call whose end was not recorded counts as over after this time: its process may have died. Default 15 min. */
  readonly longestCallMs?: number;
  /** The policy decides on unresolved calls of this age; until then a late row still can. Default 1 h. */
  readonly decideAfterMs?: number;
  /** Called for each unit that the log has priced. Must not throw. */
  readonly onPriced?: (unit: UsageUnit, charge: Charge) => void;
  /** Notified once of each run whose calls LiteLLM's log did not show in time. Must not throw. */
  readonly onBillingFailed?: (run: UnbilledRun) => void;
  readonly clock?: Clock;
}

/** Counts of one pass. */
export interface ReconcileReport {
  facts: number;
  /** Calls of LangGraph servers that became units. */
  adopted: number;
  charged: number;
  corrected: number;
  unresolved: number;
  writtenOff: number;
  estimated: number;
  /** Rows that no unit claims and that have one of our keys, or labels that claim one of our runs. */
  unclaimed: number;
  /** Calls of ended runs on LangGraph servers whose rows did not come in time. */
  billingFailed: number;
  /** Calls of ended runs on LangGraph servers whose rows may still come; the number after this pass. */
  awaited: number;
}

const UNITS_AT_ONCE = 200;
const MASTER_KEY = "litellm_proxy_master_key";

/**
 * Makes one pass: reads new rows of LiteLLM's log and prices their units, then decides on units that are too old to be
 * waited for. Safe to repeat and to run on several instances at once.
 */
export async function reconcile(options: ReconcilerOptions): Promise<ReconcileReport> {
  const { ledger, facts, source, clock = systemClock } = options;
  const { graceMs = 60_000, longestCallMs = 900_000, decideAfterMs = 3_600_000 } = options;
  const { policyOf = () => "list", pricesOf = () => undefined } = options;
  const report: ReconcileReport = {
    facts: 0,
    adopted: 0,
    charged: 0,
    corrected: 0,
    unresolved: 0,
    writtenOff: 0,
    estimated: 0,
    unclaimed: 0,
    billingFailed: 0,
    awaited: 0,
  };
  const isFree = (model: string) => {
    const prices = pricesOf(model);
    return prices?.inputPrice === 0n && prices.outputPrice === 0n;
  };

  /** Attributes calls that are not recorded. */
  async function takeIn(
    read: readonly SpendFact[],
    recorded: readonly UsageUnit[],
  ): Promise<{ adopted: readonly UsageUnit[]; refused: ReadonlySet<SpendFact> }> {
    const { adopt } = options;
    if (!adopt) return { adopted: [], refused: new Set() };
    const known = new Set(recorded.map(({ unitId }) => unitId));
    const unknown = read.filter(({ callId }) => !known.has(callId));
    const { unitIds, refused } = await attributeCalls(unknown, { ledger, adopt });
    report.adopted += unitIds.length;
    if (unitIds.length === 0) return { adopted: [], refused };
    const adopted = await ledger.find(unitIds);
    // A row may come after its run was given up.
    await ledger.dropUnbilled([...new Set(adopted.map(({ runId }) => runId))], "billed");
    return { adopted, refused };
  }

  /** Remembers rows that concern us, and gives the units they are of. */
  async function take(logged: readonly SpendFact[]): Promise<readonly UsageUnit[]> {
    const { masterKeyHash } = options;
    const read = logged.map((fact) =>
      fact.keyHash === MASTER_KEY && masterKeyHash !== undefined ? { ...fact, keyHash: masterKeyHash } : fact,
    );
    const recorded = await ledger.find([...new Set(read.map(({ callId }) => callId))]);
    const { adopted, refused } = await takeIn(read, recorded);
    const units = [...recorded, ...adopted];
    const unitOf = new Map(units.map((unit) => [unit.unitId, unit]));
    const ourKeys = await ledger.knownKeys([...new Set(read.map(({ keyHash }) => keyHash))]);
    const taken = read.flatMap((fact) => {
      const unit = unitOf.get(fact.callId);
      if (unit && isFactOf(unit, fact)) return [{ fact, isClaimed: true }];
      // A call that LiteLLM refused has a call id of its own making, and cost nothing.
      const isCharged = fact.status === "success" || fact.spend > 0n;
      return isCharged && (ourKeys.has(fact.keyHash) || refused.has(fact))
        ? [{ fact, isClaimed: false }]
        : [];
    });
    await facts.add(
      source.name,
      taken.map(({ fact, isClaimed }) => ({ fact: withoutTraces(fact), isClaimed })),
    );
    report.facts += read.length;
    report.unclaimed += taken.filter(({ isClaimed }) => !isClaimed).length;
    const claimed = new Set(taken.flatMap(({ fact, isClaimed }) => (isClaimed ? [fact.callId] : [])));
    return units.filter(({ unitId }) => claimed.has(unitId));
  }

  async function judge(units: readonly UsageUnit[], mayGiveUp: boolean): Promise<void> {
    if (units.length === 0) return;
    const known = await facts.ofUnits(
      source.name,
      units.map(({ unitId }) => unitId),
    );
    for (const unit of units) {
      const own = known.filter(({ callId }) => callId === unit.unitId);
      await apply(unit, own, mayGiveUp);
    }
  }

  async function apply(unit: UsageUnit, own: readonly SpendFact[], mayGiveUp: boolean): Promise<void> {
    const isOld =
      unit.doubtedAt === null
        ? clock.now() - unit.openedAt >= longestCallMs
        : clock.now() - unit.doubtedAt >= graceMs;
    const judgement = decideCharge(unit, own, { isOld, isFree });
    switch (judgement.kind) {
      case "leave":
        return;
      case "charge": {
        const charge = { amount: judgement.amount, seen: judgement.seen, evidence: source.name };
        if (!(await ledger.charge(unit.unitId, charge))) return;
        report.charged += 1;
        options.onPriced?.(unit, charge);
        return;
      }
      case "correct": {
        const { from, amount, seen } = judgement;
        const charge = { amount, seen, evidence: source.name };
        if (await ledger.correct(unit.unitId, from, charge, "LiteLLM's log says otherwise"))
          report.corrected += 1;
        return;
      }
      case "give_up": {
        if (!mayGiveUp && judgement.reason === "no_evidence") return;
        if (await ledger.close(unit.unitId, "unresolved", judgement.reason)) report.unresolved += 1;
      }
    }
  }

  async function decide(unit: UsageUnit): Promise<void> {
    const policy = policyOf(unit.account);
    if (policy === "write_off") {
      if (await ledger.close(unit.unitId, "written_off", unit.reason ?? "")) report.writtenOff += 1;
    }
    if (policy === "estimate") {
      const amount = estimate(unit, pricesOf(unit.seen.servedModel ?? unit.model ?? ""));
      if (amount === undefined) return;
      const charge = { amount, seen: unit.seen, evidence: "estimate" } as const;
      if (await ledger.charge(unit.unitId, charge)) report.estimated += 1;
    }
  }

  /** Decides on a run that made more calls than it has units. */
  async function judgeRun(run: UnbilledRun, mayGiveUp: boolean): Promise<void> {
    if (run.missing === 0) return ledger.dropUnbilled([run.runId], "billed");
    if (!mayGiveUp || clock.now() - run.endedAt < longestCallMs) {
      report.awaited += run.missing;
      return;
    }
    if (!(await ledger.failUnbilled(run.runId))) return;
    report.billingFailed += run.missing;
    options.onBillingFailed?.(run);
    if (policyOf(run.account) === "write_off") await ledger.dropUnbilled([run.runId], "all");
  }

  async function judgeRuns(mayGiveUp: boolean): Promise<void> {
    for (let after: UnbilledRun | undefined; ; ) {
      const runs = await ledger.listUnbilled({ state: "awaited", after, limit: UNITS_AT_ONCE });
      for (const run of runs) await judgeRun(run, mayGiveUp);
      after = runs.at(-1);
      if (runs.length < UNITS_AT_ONCE) return;
    }
  }

  async function forEachPage(
    query: { readonly state: "in_doubt" | "unresolved"; readonly olderThanMs: number },
    work: (units: readonly UsageUnit[]) => Promise<void>,
  ): Promise<void> {
    for (let after: UsageUnit | undefined; ; ) {
      const units = await ledger.list({ ...query, after, limit: UNITS_AT_ONCE });
      await work(units);
      after = units.at(-1);
      if (units.length < UNITS_AT_ONCE) return;
    }
  }

  for await (const batch of source.read(await facts.position(source.name))) {
    await judge(await take(batch.facts), false);
    // After the rows are remembered and applied: a crash before this reads them again.
    await facts.setPosition(source.name, batch.position);
  }
  const mayGiveUp = await source.isComplete();
  await forEachPage({ state: "in_doubt", olderThanMs: graceMs }, async (units) => {
    const ids = units.map(({ unitId }) => unitId);
    if (source.factsOf && ids.length > 0) await take(await source.factsOf(ids));
    await judge(units, mayGiveUp);
  });
  await judgeRuns(mayGiveUp);
  await forEachPage({ state: "unresolved", olderThanMs: decideAfterMs }, async (units) => {
    for (const unit of units) await decide(unit);
  });
  return report;
}

/** Removes the ids of a thread from a row, which outlives the thread and is not found by its deletion. */
function withoutTraces({ labels, ...fact }: SpendFact): SpendFact {
  const { threadId: _thread, requestId: _request, traceId: _trace, ...retained } = labels;
  return { ...fact, labels: retained };
}

/** Tokens times list price, where tokens and prices are known. */
function estimate({ seen }: UsageUnit, prices: ModelPrices | undefined): Picodollars | undefined {
  if (!prices || prices.inputPrice === null || prices.outputPrice === null) return undefined;
  if (seen.inputTokens + seen.outputTokens === 0) return undefined;
  return prices.inputPrice * BigInt(seen.inputTokens) + prices.outputPrice * BigInt(seen.outputTokens);
}

export type Judgement =
  /** Nothing to do, now or at all. */
  | { readonly kind: "leave" }
  /** The unit has no receipt yet. */
  | { readonly kind: "charge"; readonly amount: Picodollars; readonly seen: ResponseUsage }
  /** The receipt has another amount. */
  | {
      readonly kind: "correct";
      readonly from: Picodollars;
      readonly amount: Picodollars;
      readonly seen: ResponseUsage;
    }
  /** There is no evidence, and none will come: the account's policy decides. */
  | { readonly kind: "give_up"; readonly reason: "no_evidence" | "unpriced" };

export interface JudgeContext {
  /** The unit is old enough for all its rows to be there. */
  readonly isOld: boolean;
  /** LiteLLM has a price for the model, and it is zero. */
  readonly isFree: (model: string) => boolean;
}

/** Decides what to do with a unit, given all its known rows. */
export function decideCharge(unit: UsageUnit, facts: readonly SpendFact[], context: JudgeContext): Judgement {
  if (unit.state === "written_off") return { kind: "leave" };
  if (facts.length === 0) {
    return unit.state === "in_doubt" && context.isOld
      ? { kind: "give_up", reason: "no_evidence" }
      : { kind: "leave" };
  }
  const amount = facts.reduce((sum, { spend }) => sum + spend, 0n);
  const success = facts.find(({ status }) => status === "success");
  // A failure may be followed by a retry or a fallback under the same call id.
  if (!success && amount === 0n && !context.isOld) return { kind: "leave" };
  if (success && amount === 0n && isUnpriced(success, context)) {
    return unit.state === "in_doubt" ? { kind: "give_up", reason: "unpriced" } : { kind: "leave" };
  }
  const seen = seenIn(unit, success ?? facts[0], facts);
  if (unit.billed === null) return { kind: "charge", amount, seen };
  // The rows of a failed try alone do not show what the response cost.
  if (unit.billed === amount || (!success && amount === 0n)) return { kind: "leave" };
  return { kind: "correct", from: unit.billed, amount, seen };
}

/** LiteLLM logs 0 for what it has no price for, as for what is free. */
function isUnpriced(
  { isCacheHit, outputTokens, inputTokens, modelGroup }: SpendFact,
  { isFree }: JudgeContext,
): boolean {
  return !isCacheHit && outputTokens + inputTokens > 0 && !(modelGroup !== null && isFree(modelGroup));
}

function seenIn(
  unit: UsageUnit,
  decisive: SpendFact | undefined,
  facts: readonly SpendFact[],
): ResponseUsage {
  return {
    ...unit.seen,
    servedModel: decisive?.modelGroup || unit.seen.servedModel,
    responseId: decisive?.requestId ?? unit.seen.responseId,
    inputTokens: facts.reduce((sum, { inputTokens }) => sum + inputTokens, 0),
    outputTokens: facts.reduce((sum, { outputTokens }) => sum + outputTokens, 0),
  };
}
