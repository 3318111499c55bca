import type { ExecutorType } from "@throughline/ai-core";
import type pg from "pg";
import type { Picodollars } from "./money.js";

/**
 * `in_doubt`: the request was or may have been sent, its price is not known yet. `settled`: priced, there is a receipt.
 * `unresolved`: no evidence came in time; listed until one comes or an account's policy decides. `written_off`: charged
 * nothing by policy, for good.
 */
export const UNIT_STATES = ["in_doubt", "settled", "unresolved", "written_off"] as const;
export type UnitState = (typeof UNIT_STATES)[number];

/** Sources that a price can be read from. */
export const EVIDENCES = [
  "response_header",
  "last_event",
  "cache_hit",
  /** LiteLLM refused the call before any model saw it, or reports that the failure cost nothing. */
  "refused",
  /** The request never left. */
  "not_sent",
  "spend_log",
  "logger",
  /** Tokens times list price, by an account's policy. */
  "estimate",
] as const;
export type Evidence = (typeof EVIDENCES)[number];

/** One HTTP request to LiteLLM, as it is recorded before it is sent. It names a key, never holds one. */
export interface NewUnit {
  /** A uuid of ours: LiteLLM's call id, and the receipt's reference. */
  readonly unitId: string;
  readonly runId: string;
  readonly attempt: number;
  /** Number among the requests of this attempt, from 1; 0 where no meter counted. For people, not an identity. */
  readonly ordinal: number;
  readonly account: string;
  readonly subject: string | undefined;
  readonly virtualKeyId: string;
  /** SHA-256 of the key that was sent, as LiteLLM logs it. */
  readonly keyHash: string;
  readonly requestId: string;
  readonly traceId: string;
  readonly threadId: string;
  readonly graphId: string;
  readonly executorType: ExecutorType;
  /** The model requested; `null` where the request names none. */
  readonly model: string | null;
}

/** Facts of a response other than its price. */
export interface ResponseUsage {
  /** The model group that answered; another than was asked for after a fallback. */
  readonly servedModel: string | null;
  /** The provider's id. Not unique: a cache hit repeats it. */
  readonly responseId: string | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly retries: number;
  readonly fallbacks: number;
}

export const NO_USAGE_SEEN: ResponseUsage = {
  servedModel: null,
  responseId: null,
  inputTokens: 0,
  outputTokens: 0,
  retries: 0,
  fallbacks: 0,
};

export interface Charge {
  readonly amount: Picodollars;
  readonly evidence: Evidence;
  readonly seen: ResponseUsage;
}

export interface UsageUnit extends NewUnit {
  readonly openedAt: number;
  readonly state: UnitState;
  /** Why it is in doubt, unresolved or written off. */
  readonly reason: string | null;
  /** When its call ended without a price; `null` while it may still be under way. */
  readonly doubtedAt: number | null;
  readonly seen: ResponseUsage;
  readonly evidence: Evidence | null;
  /** The receipt's amount with all its corrections; `null` without a receipt. */
  readonly billed: Picodollars | null;
}

/** The charge of a settled unit. Never changed. */
export interface ChargeReceipt {
  readonly sourceSystem: "litellm";
  /** The unit's id. */
  readonly sourceReference: string;
  readonly account: string;
  readonly runId: string;
  readonly amount: Picodollars;
  readonly evidence: Evidence;
  readonly chargedAt: number;
}

/** A later difference to a receipt. */
export interface ChargeCorrection {
  readonly sourceReference: string;
  readonly delta: Picodollars;
  readonly evidence: Evidence;
  readonly reason: string;
  readonly correctedAt: number;
}

/** The cost of a run as far as it is known. */
export interface RunBill {
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly amount: Picodollars;
  /** Calls without a price: in doubt or unresolved. */
  readonly unpriced: number;
}

/** Groupings of usage. `person` is the subject, `agent` the graph, `model` the one that answered. */
export const USAGE_GROUPS = ["day", "agent", "model", "person", "run"] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

export interface UsageQuery {
  readonly account: string;
  /** Milliseconds since the epoch; the end is exclusive. */
  readonly from: number;
  readonly to: number;
  readonly by: UsageGroup;
  readonly subject?: string | undefined;
  readonly graphId?: string | undefined;
  /** The one that answered. */
  readonly model?: string | undefined;
  /** The key of the last row of the page before. */
  readonly after?: string | undefined;
  readonly limit: number;
}

export interface UsageRow extends RunBill {
  /** A UTC day (`2026-11-17`), graph id, model, subject or run id; empty where a unit has none. */
  readonly key: string;
}

export interface UsagePage {
  /** In order of their keys' bytes. */
  readonly rows: readonly UsageRow[];
  readonly next: string | undefined;
}

export interface UnitList {
  readonly state: UnitState;
  /** Age by the store's own clock. */
  readonly olderThanMs: number;
  readonly account?: string | undefined;
  readonly after?: Pick<UsageUnit, "openedAt" | "unitId"> | undefined;
  readonly limit: number;
}

/**
 * A run of a LangGraph server that made more model calls than the ledger has units for: their rows have not been read from
 * LiteLLM's log, or are lost. `awaited`: they may still come. `billing_failed`: they did not come in time.
 */
export interface UnbilledRun {
  readonly runId: string;
  readonly account: string;
  readonly subject: string | undefined;
  readonly threadId: string;
  readonly graphId: string;
  /** The calls that its graph made, all attempts. */
  readonly modelCalls: number;
  readonly endedAt: number;
  readonly state: "awaited" | "billing_failed";
  /** `modelCalls` without those that the ledger has units for; 0 once all rows came. */
  readonly missing: number;
}

export interface UnbilledList {
  readonly state?: UnbilledRun["state"] | undefined;
  readonly account?: string | undefined;
  readonly after?: Pick<UnbilledRun, "endedAt" | "runId"> | undefined;
  readonly limit: number;
}

/** Scope of a deletion: an account, one of its people, or one thread. */
export interface UnitScope {
  readonly account: string;
  readonly subject?: string | undefined;
  readonly threadId?: string | undefined;
  /** Milliseconds since the epoch: what was opened later stays as it is. */
  readonly openedBefore?: number | undefined;
}

/**
 * Stores units and their charges. Every write is one statement and safe to repeat, because its response may be lost. A
 * settled amount is never overwritten: corrections are rows.
 */
export interface LedgerStore {
  /** Records a request that is about to be sent. Nothing is sent before this resolves. */
  open(unit: NewUnit): Promise<void>;
  /** Notes why a unit stays in doubt. Changes nothing once it is not. */
  doubt(unitId: string, reason: string, seen: ResponseUsage): Promise<void>;
  /** Writes the unit's one receipt. `false` where it is settled or written off already. */
  charge(unitId: string, charge: Charge): Promise<boolean>;
  /**
   * Corrects a settled unit from the amount it is known to have to another. `false` where its amount is no longer `from`:
   * another correction came first.
   */
  correct(unitId: string, from: Picodollars, charge: Charge, reason: string): Promise<boolean>;
  /** Ends the wait for evidence. `false` where the unit is neither in doubt nor unresolved. */
  close(unitId: string, state: "unresolved" | "written_off", reason: string): Promise<boolean>;
  find(unitIds: readonly string[]): Promise<readonly UsageUnit[]>;
  /** Oldest first. */
  list(query: UnitList): Promise<readonly UsageUnit[]>;
  receipts(runId: string): Promise<readonly ChargeReceipt[]>;
  corrections(unitId: string): Promise<readonly ChargeCorrection[]>;
  billOf(runId: string): Promise<RunBill>;
  /** Bills of several runs at once; a run without a call is not among them. */
  billsOf(runIds: readonly string[]): Promise<ReadonlyMap<string, RunBill>>;
  /** The run's units, oldest first. */
  unitsOf(runId: string, limit: number): Promise<readonly UsageUnit[]>;
  /** Records that a run made more calls than it has units. Recorded twice, the higher number of calls counts. */
  addUnbilled(run: Omit<UnbilledRun, "endedAt" | "state" | "missing">): Promise<void>;
  /** Oldest first. */
  listUnbilled(query: UnbilledList): Promise<readonly UnbilledRun[]>;
  /** Ends the wait for an awaited run's rows. `false` where none is missing, or another caller ended it. */
  failUnbilled(runId: string): Promise<boolean>;
  /** Removes those of these runs that miss no call, or all of them. */
  dropUnbilled(runIds: readonly string[], which: "billed" | "all"): Promise<void>;
  usage(query: UsageQuery): Promise<UsagePage>;
  /** Sums charged for calls since each of these times, for one subject or for the whole account. */
  spentSince(
    account: string,
    subject: string | undefined,
    since: readonly number[],
  ): Promise<readonly Picodollars[]>;
  /** Which of these hashes are of keys that calls were made with. */
  knownKeys(hashes: readonly string[]): Promise<ReadonlySet<string>>;
  /** Removes subjects and threads from receipts, which outlive them: the amounts stay. */
  redact(scope: UnitScope): Promise<void>;
}

/** The database of billing's stores: thread-log's `PostgresDatabase` is one. */
export interface LedgerDatabase {
  readonly pool: pg.Pool;
  readonly schema: string;
}
