import type { UsageGroup, UsageRow } from "../ledger/ledger-store.js";
import { formatUsd } from "../money/picodollars.js";

/** What a spreadsheet would take for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/** Rows as RFC 4180 text with a header line. Amounts are exact decimals. */
export function usageCsv(by: UsageGroup, rows: readonly UsageRow[]): string {
  const header = [by, "calls", "input_tokens", "output_tokens", "cost_usd", "unpriced_calls"];
  const lines = rows.map((row) => [
    cell(row.key),
    row.calls,
    row.inputTokens,
    row.outputTokens,
    formatUsd(row.amount),
    row.unpriced,
  ]);
  return [header, ...lines].map((line) => `${line.join(",")}\r\n`).join("");
}

function cell(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
