import { type Clock, systemClock } from "@throughline/ai-core";
import type { LedgerStore, RunBill, UnbilledRun, UsageGroup } from "./ledger-store.js";
import { type ChargeCorrection, type ChargeReceipt, NOTHING_SEEN, type UsageUnit } from "./usage-unit.js";

/** For tests and for services without a database. What it holds goes with the process. */
export function createMemoryLedgerStore(clock: Clock = systemClock): LedgerStore {
  const units = new Map<string, UsageUnit>();
  const receipts = new Map<string, ChargeReceipt>();
  const corrections: ChargeCorrection[] = [];
  const unbilled = new Map<string, Omit<UnbilledRun, "missing">>();

  const isOpen = (unit: UsageUnit | undefined) => unit?.state === "in_doubt" || unit?.state === "unresolved";
  const all = () => [...units.values()];
  const unitsOf = (runId: string) => all().filter((unit) => unit.runId === runId);
  const missing = ({ runId, modelCalls }: Pick<UnbilledRun, "runId" | "modelCalls">) =>
    Math.max(0, modelCalls - unitsOf(runId).length);

  return {
    async open(unit) {
      if (units.has(unit.unitId)) return;
      units.set(unit.unitId, {
        ...unit,
        openedAt: clock.now(),
        state: "in_doubt",
        reason: null,
        doubtedAt: null,
        seen: NOTHING_SEEN,
        evidence: null,
        billed: null,
      });
    },
    async doubt(unitId, reason, seen) {
      const unit = units.get(unitId);
      if (unit?.state === "in_doubt") units.set(unitId, { ...unit, reason, seen, doubtedAt: clock.now() });
    },
    async charge(unitId, { amount, evidence, seen }) {
      const unit = units.get(unitId);
      if (!unit || !isOpen(unit)) return false;
      units.set(unitId, { ...unit, state: "settled", reason: null, evidence, seen, billed: amount });
      receipts.set(unitId, {
        sourceSystem: "litellm",
        sourceReference: unitId,
        account: unit.account,
        runId: unit.runId,
        amount,
        evidence,
        chargedAt: clock.now(),
      });
      return true;
    },
    async correct(unitId, from, { amount, evidence, seen }, reason) {
      const unit = units.get(unitId);
      if (unit?.state !== "settled" || unit.billed !== from || from === amount) return false;
      units.set(unitId, { ...unit, billed: amount, evidence, seen });
      const correctedAt = clock.now();
      corrections.push({ sourceReference: unitId, delta: amount - from, evidence, reason, correctedAt });
      return true;
    },
    async close(unitId, state, reason) {
      const unit = units.get(unitId);
      if (!unit || !isOpen(unit)) return false;
      units.set(unitId, { ...unit, state, reason });
      return true;
    },
    async find(unitIds) {
      return unitIds.flatMap((id) => units.get(id) ?? []);
    },
    async list({ state, olderThanMs, account, after, limit }) {
      const latest = clock.now() - olderThanMs;
      return all()
        .filter(
          (unit) =>
            unit.state === state &&
            unit.openedAt <= latest &&
            (account === undefined || unit.account === account) &&
            (after === undefined || byAge(unit, after) > 0),
        )
        .sort(byAge)
        .slice(0, limit);
    },
    async receipts(runId) {
      return [...receipts.values()].filter((receipt) => receipt.runId === runId);
    },
    async corrections(unitId) {
      return corrections.filter(({ sourceReference }) => sourceReference === unitId);
    },
    async billOf(runId) {
      return toBill(all().filter((unit) => unit.runId === runId));
    },
    async billsOf(runIds) {
      const asked = runIds.filter((runId) => all().some((unit) => unit.runId === runId));
      return new Map(asked.map((runId) => [runId, toBill(all().filter((unit) => unit.runId === runId))]));
    },
    async usage({ account, from, to, by, subject, graphId, model, after, limit }) {
      const groups = new Map<string, UsageUnit[]>();
      for (const unit of all()) {
        if (unit.account !== account || unit.openedAt < from || unit.openedAt >= to) continue;
        if (subject !== undefined && (unit.subject ?? "") !== subject) continue;
        if (graphId !== undefined && unit.graphId !== graphId) continue;
        if (model !== undefined && KEYS.model(unit) !== model) continue;
        const key = KEYS[by](unit);
        groups.set(key, [...(groups.get(key) ?? []), unit]);
      }
      const rows = [...groups]
        .filter(([key]) => after === undefined || byBytes(key, after) > 0)
        .sort(([a], [b]) => byBytes(a, b))
        .map(([key, group]) => ({ key, ...toBill(group) }));
      const page = rows.slice(0, limit);
      return { rows: page, next: rows.length > limit ? page.at(-1)?.key : undefined };
    },
    async unitsOf(runId, limit) {
      return unitsOf(runId).sort(byAge).slice(0, limit);
    },
    async addUnbilled(run) {
      const known = unbilled.get(run.runId);
      const modelCalls = Math.max(run.modelCalls, known?.modelCalls ?? 0);
      unbilled.set(
        run.runId,
        known ? { ...known, modelCalls } : { ...run, endedAt: clock.now(), state: "awaited" },
      );
    },
    async listUnbilled({ state, account, after, limit }) {
      return [...unbilled.values()]
        .filter(
          (run) =>
            (state === undefined || run.state === state) &&
            (account === undefined || run.account === account) &&
            (after === undefined || byEnd(run, after) > 0),
        )
        .sort(byEnd)
        .slice(0, limit)
        .map((run) => ({ ...run, missing: missing(run) }));
    },
    async failUnbilled(runId) {
      const run = unbilled.get(runId);
      if (run?.state !== "awaited" || missing(run) === 0) return false;
      unbilled.set(runId, { ...run, state: "billing_failed" });
      return true;
    },
    async dropUnbilled(runIds, which) {
      for (const runId of runIds) {
        const run = unbilled.get(runId);
        if (run && (which === "all" || missing(run) === 0)) unbilled.delete(runId);
      }
    },
    async spentSince(account, subject, since) {
      const mine = all().filter(
        (unit) => unit.account === account && (subject === undefined || (unit.subject ?? "") === subject),
      );
      return since.map((time) => toBill(mine.filter(({ openedAt }) => openedAt >= time)).amount);
    },
    async knownKeys(hashes) {
      const known = new Set(all().map(({ keyHash }) => keyHash));
      return new Set(hashes.filter((hash) => known.has(hash)));
    },
    async redact({ account, subject, threadId, openedBefore = Number.POSITIVE_INFINITY }) {
      for (const unit of all()) {
        if (unit.account !== account || unit.openedAt >= openedBefore) continue;
        if (subject !== undefined && (unit.subject ?? "") !== subject) continue;
        if (threadId !== undefined && unit.threadId !== threadId) continue;
        units.set(unit.unitId, { ...unit, subject: undefined, threadId: "", requestId: "", traceId: "" });
      }
      for (const run of unbilled.values()) {
        if (run.account !== account || run.endedAt >= openedBefore) continue;
        if (subject !== undefined && (run.subject ?? "") !== subject) continue;
        if (threadId !== undefined && run.threadId !== threadId) continue;
        unbilled.set(run.runId, { ...run, subject: undefined, threadId: "" });
      }
    },
  };
}

const KEYS: Readonly<Record<UsageGroup, (unit: UsageUnit) => string>> = {
  day: ({ openedAt }) => new Date(openedAt).toISOString().slice(0, 10),
  agent: ({ graphId }) => graphId,
  model: ({ seen, model }) => seen.servedModel ?? model ?? "",
  person: ({ subject }) => subject ?? "",
  run: ({ runId }) => runId,
};

function toBill(units: readonly UsageUnit[]): RunBill {
  return {
    calls: units.length,
    inputTokens: units.reduce((sum, { seen }) => sum + seen.inputTokens, 0),
    outputTokens: units.reduce((sum, { seen }) => sum + seen.outputTokens, 0),
    amount: units.reduce((sum, { billed }) => sum + (billed ?? 0n), 0n),
    unpriced: units.filter(({ state }) => state === "in_doubt" || state === "unresolved").length,
  };
}

type Position = Pick<UsageUnit, "openedAt" | "unitId">;

function byAge(a: Position, b: Position): number {
  return a.openedAt - b.openedAt || byBytes(a.unitId, b.unitId);
}

function byEnd(a: Pick<UnbilledRun, "endedAt" | "runId">, b: Pick<UnbilledRun, "endedAt" | "runId">): number {
  return a.endedAt - b.endedAt || byBytes(a.runId, b.runId);
}

/** As PostgreSQL's "C" collation compares. */
function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
