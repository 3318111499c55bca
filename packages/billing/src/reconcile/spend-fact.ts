import type { KnownLabels } from "@throughline/ai-core";
import { z } from "zod";
import type { UsageUnit } from "../ledger/usage-unit.js";
import type { Picodollars } from "../money/picodollars.js";

/** What a caller may claim as an id. PostgreSQL stores no NUL, so that one such row would end all reading. */
export const claimedId = z.string().regex(/^[\x20-\x7e]{1,256}$/);

/** A row of LiteLLM's log. A retried call has several under one call id. */
export interface SpendFact {
  readonly callId: string;
  /** The provider's id, or the call id of a failure. Not unique. */
  readonly requestId: string;
  readonly status: "success" | "failure";
  /** What the caller's label claims. */
  readonly unitId: string | null;
  /** All that it claims; nothing where that is not of our making. */
  readonly labels: KnownLabels;
  readonly keyHash: string;
  readonly spend: Picodollars;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly isCacheHit: boolean;
  readonly errorCode: string | null;
  readonly modelGroup: string | null;
  readonly endedAt: number;
}

/**
 * Whether a row is of a unit. The call id alone does not prove it: a tenant can send another's. The key does, and the label
 * says that it was our meter that sent it.
 */
export function isFactOf(unit: Pick<UsageUnit, "unitId" | "keyHash">, fact: SpendFact): boolean {
  return fact.callId === unit.unitId && fact.unitId === unit.unitId && fact.keyHash === unit.keyHash;
}
