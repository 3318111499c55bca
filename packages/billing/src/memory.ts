import { type Clock, systemClock } from "@throughline/ai-core";
import type { BudgetStore } from "./budgets/budget-store.js";
import type { BudgetLimits } from "./budgets/decide-budget.js";
import type { KeyStore, StoredKey } from "./keys/key-store.js";
import {
  type ChargeCorrection,
  type ChargeReceipt,
  type LedgerStore,
  NO_USAGE_SEEN,
  type RunBill,
  type UnbilledRun,
  type UsageGroup,
  type UsageUnit,
} from "./ledger/ledger.js";
import type { FactStore, StoredFact } from "./reconcile/fact-store.js";
import type { SpendFact, SpendSource } from "./reconcile/spend-log.js";

/** A ledger for tests and for services without a database. Its content ends with the process. */
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
        seen: NO_USAGE_SEEN,
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

/** A budget store for tests and for services without a database. */
export function createMemoryBudgetStore(): BudgetStore {
  const accounts = new Map<string, Map<string, BudgetLimits>>();
  const of = (account: string) => accounts.get(account) ?? new Map<string, BudgetLimits>();
  return {
    async limitsOf(account, subject) {
      return {
        account: of(account).get(""),
        person: subject === undefined ? undefined : of(account).get(subject),
      };
    },
    async set(account, subject = "", limits) {
      const budgets = of(account);
      if (limits) budgets.set(subject, limits);
      else budgets.delete(subject);
      accounts.set(account, budgets);
    },
    async list(account) {
      return [...of(account)]
        .sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
        .map(([subject, limits]) => ({ subject: subject === "" ? undefined : subject, limits }));
    },
    async delete(account, subject) {
      if (subject === undefined) accounts.delete(account);
      else of(account).delete(subject);
    },
  };
}

/** A key store for tests and for services without a database. */
export function createMemoryKeyStore(): KeyStore {
  const keys = new Map<string, StoredKey>();
  const nameOf = (account: string, virtualKeyId: string) => JSON.stringify([account, virtualKeyId]);
  const put = (key: StoredKey) => void keys.set(nameOf(key.account, key.virtualKeyId), key);
  return {
    async find(account, virtualKeyId) {
      return keys.get(nameOf(account, virtualKeyId));
    },
    async addOnce(key) {
      const there = keys.get(nameOf(key.account, key.virtualKeyId));
      if (there) return there;
      put(key);
      return key;
    },
    async put(key) {
      put(key);
    },
    async markRegistered(account, virtualKeyId) {
      const key = keys.get(nameOf(account, virtualKeyId));
      if (key) put({ ...key, isRegistered: true });
    },
    async reseal(key, sealed) {
      const there = keys.get(nameOf(key.account, key.virtualKeyId));
      if (there?.sealed !== key.sealed) return false;
      put({ ...there, sealed });
      return true;
    },
    async notSealedWith(secretId, limit) {
      return [...keys.values()].filter(({ sealed }) => sealed.split(".")[1] !== secretId).slice(0, limit);
    },
    async delete(account) {
      for (const [name, key] of keys) if (key.account === account) keys.delete(name);
    },
  };
}

/** A fact store for tests and for services without a database. */
export function createMemoryFactStore(): FactStore {
  const facts = new Map<string, StoredFact & { readonly source: SpendSource["name"] }>();
  const positions = new Map<string, string>();
  return {
    async add(source, added) {
      for (const { fact, isClaimed } of added) {
        const name = JSON.stringify([source, fact.callId, fact.requestId, fact.status]);
        const stored = facts.get(name);
        if (!stored) facts.set(name, { source, fact, isClaimed });
        else if (isClaimed && isSameClaim(stored.fact, fact)) facts.set(name, { ...stored, isClaimed });
      }
    },
    async ofUnits(source, unitIds) {
      return [...facts.values()]
        .filter(
          (stored) => stored.source === source && stored.isClaimed && unitIds.includes(stored.fact.callId),
        )
        .map(({ fact }) => fact);
    },
    async unclaimed(limit) {
      return [...facts.values()]
        .filter(({ isClaimed }) => !isClaimed)
        .map(({ fact }) => fact)
        .sort((a, b) => b.endedAt - a.endedAt)
        .slice(0, limit);
    },
    async position(source) {
      return positions.get(source);
    },
    async setPosition(source, position) {
      positions.set(source, position);
    },
    async prune(endedBefore, limit) {
      const old = [...facts].filter(([, { fact, isClaimed }]) => isClaimed && fact.endedAt < endedBefore);
      for (const [name] of old.slice(0, limit)) facts.delete(name);
      return Math.min(old.length, limit);
    },
  };
}

function isSameClaim(a: SpendFact, b: SpendFact): boolean {
  return a.keyHash === b.keyHash && a.unitId === b.unitId;
}
