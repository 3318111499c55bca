import type { JsonObject } from "@throughline/ai-core";
import { formatUsd, type LedgerStore, type UnitState, type UsageUnit } from "@throughline/billing";
import type { ExportScope } from "./account-rows.js";

const PER_READ = 500;

/** In the order in which a unit moves through them: one that moves meanwhile is met again, never missed. */
const STATES: readonly UnitState[] = ["in_doubt", "unresolved", "written_off", "settled"];

/** Model calls of an account or of one subject, with what each cost. Of the key there is its name, not its hash. */
export async function* everyUnit(
  ledger: Pick<LedgerStore, "list">,
  { account, subject }: ExportScope,
): AsyncGenerator<JsonObject> {
  /** Those that may be met again. */
  const open = new Set<string>();
  for (const state of STATES) {
    let after: UsageUnit | undefined;
    do {
      const units = await ledger.list({ account, state, olderThanMs: 0, after, limit: PER_READ });
      for (const unit of units) {
        if ((subject !== undefined && unit.subject !== subject) || open.has(unit.unitId)) continue;
        if (state === "in_doubt" || state === "unresolved") open.add(unit.unitId);
        yield toRow(unit);
      }
      after = units.length < PER_READ ? undefined : units.at(-1);
    } while (after);
  }
}

function toRow({
  keyHash: _,
  account: __,
  billed,
  openedAt,
  doubtedAt,
  seen,
  ...unit
}: UsageUnit): JsonObject {
  return {
    ...unit,
    subject: unit.subject ?? null,
    openedAt: new Date(openedAt).toISOString(),
    doubtedAt: doubtedAt === null ? null : new Date(doubtedAt).toISOString(),
    ...seen,
    cost: billed === null ? null : formatUsd(billed),
  };
}
