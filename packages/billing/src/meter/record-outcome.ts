import { type Clock, retryStore } from "@throughline/ai-core";
import type { LedgerStore } from "../ledger/ledger-store.js";
import type { NewUnit, SeenResponse } from "../ledger/usage-unit.js";
import type { MeterObserver } from "./meter-observer.js";
import type { Verdict } from "./price-response.js";

export interface RecorderOptions {
  readonly ledger: Pick<LedgerStore, "charge" | "doubt">;
  readonly clock: Clock;
  readonly observer: MeterObserver;
  /** How long an answer waits for its price to be written. */
  readonly holdMs: number;
  /** How long the writing is tried. Past it, reconciliation finds the unit in doubt. */
  readonly patienceMs: number;
}

/**
 * Writes what became of a unit. Resolves once it is written, or after `holdMs`: a ledger that is away delays an answer a
 * little and never breaks it. Never rejects.
 */
export function createOutcomeRecorder(
  options: RecorderOptions,
): (unit: NewUnit, verdict: Verdict, seen: SeenResponse) => Promise<void> {
  const { ledger, clock, observer, holdMs, patienceMs } = options;

  async function write(unit: NewUnit, verdict: Verdict, seen: SeenResponse): Promise<void> {
    try {
      if (verdict.kind === "priced") {
        const charge = { amount: verdict.amount, evidence: verdict.evidence, seen };
        await retryStore({ clock, patienceMs }, () => ledger.charge(unit.unitId, charge));
        observer.priced?.(unit, charge);
      } else {
        await retryStore({ clock, patienceMs }, () => ledger.doubt(unit.unitId, verdict.reason, seen));
        observer.doubted?.(unit, verdict.reason);
      }
    } catch (error) {
      observer.billingFailed?.(unit, error);
    }
  }

  return (unit, verdict, seen) =>
    new Promise((resolve) => {
      const timer = clock.schedule(holdMs, resolve);
      void write(unit, verdict, seen).then(() => {
        timer.cancel();
        resolve();
      });
    });
}
