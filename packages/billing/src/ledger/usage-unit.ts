import type { ExecutorType } from "@throughline/ai-core";
import type { Picodollars } from "../money/picodollars.js";

/**
 * `in_doubt`: the request was or may have been sent, its price is not known yet. `settled`: priced, there is a receipt.
 * `unresolved`: no evidence came in time; listed until one comes or an account's policy decides. `written_off`: charged
 * nothing by policy, for good.
 */
export const UNIT_STATES = ["in_doubt", "settled", "unresolved", "written_off"] as const;
export type UnitState = (typeof UNIT_STATES)[number];

/** What a price was read from. */
export const EVIDENCES = [
  "response_header",
  "last_event",
  "cache_hit",
  /** LiteLLM refused the call before any model saw it, or says that the failure cost nothing. */
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
  /** Of the requests of this attempt, from 1; 0 where no meter counted. For people, not an identity. */
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
  /** What was asked for; `null` where the request does not say. */
  readonly model: string | null;
}

/** What the response said beside its price. */
export interface SeenResponse {
  /** The model group that answered; another than was asked for after a fallback. */
  readonly servedModel: string | null;
  /** The provider's id. Not unique: a cache hit repeats it. */
  readonly responseId: string | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly retries: number;
  readonly fallbacks: number;
}

export const NOTHING_SEEN: SeenResponse = {
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
  readonly seen: SeenResponse;
}

export interface UsageUnit extends NewUnit {
  readonly openedAt: number;
  readonly state: UnitState;
  /** Why it is in doubt, unresolved or written off. */
  readonly reason: string | null;
  /** When its call ended without a price; `null` while it may still be under way. */
  readonly doubtedAt: number | null;
  readonly seen: SeenResponse;
  readonly evidence: Evidence | null;
  /** The receipt's amount with all its corrections; `null` without a receipt. */
  readonly billed: Picodollars | null;
}

/** Of a settled unit: what was charged, never changed. */
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
