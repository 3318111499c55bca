import type { ErrorCode } from "@throughline/ai-core";
import type { Charge, NewUnit } from "../ledger/ledger.js";
import type { UnpricedReason } from "./response.js";

/** Events of a meter, for metrics and alarms. It is called in the middle of model calls: it must not throw or block. */
export interface MeterObserver {
  /** A call was recorded and is about to be sent. */
  opened?(unit: NewUnit): void;
  priced?(unit: NewUnit, charge: Charge): void;
  doubted?(unit: NewUnit, reason: UnpricedReason): void;
  /** A call was not sent. */
  refused?(code: ErrorCode): void;
  /** A call's price or doubt could not be written; reconciliation will find it. */
  billingFailed?(unit: NewUnit, error: unknown): void;
  /** Another model answered than was asked for: a fallback, which LiteLLM does not check against the key's models. */
  servedOther?(unit: NewUnit, servedModel: string): void;
  /** A request that looks like a model call went to another host, unmetered. */
  escaped?(call: { readonly origin: string; readonly path: string }): void;
}
