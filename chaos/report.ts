import { countCharges } from "../e2e/billing/rig/charge-problems.js";
import type { FindingKind } from "./check/history.js";
import type { ChaosResult } from "./run-chaos.js";

export interface ChaosReport {
  readonly seed: number;
  readonly minutes: number;
  readonly threads: number;
  readonly runs: number;
  /** How runs ended. */
  readonly ends: Readonly<Record<string, number>>;
  readonly viewers: number;
  readonly reconnects: number;
  readonly eventsChecked: number;
  readonly modelCalls: number;
  readonly priced: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly skipped: readonly string[];
  readonly lost: number;
  readonly doubled: number;
  readonly disordered: number;
  readonly altered: number;
  readonly hung: number;
  readonly stuck: number;
  readonly wrongCharges: number;
  readonly foreign: number;
  readonly disagreements: number;
}

export function reportOf(result: ChaosResult, skipped: readonly string[]): ChaosReport {
  const { history, faults, findings } = result;
  const { threads, charges } = history;
  const count = (kind: FindingKind) => findings.filter((finding) => finding.kind === kind).length;
  const viewers = threads.flatMap((thread) => thread.viewers);
  return {
    seed: result.seed,
    minutes: Math.round(result.durationMs / 6_000) / 10,
    threads: threads.length,
    runs: threads.reduce((sum, { runs }) => sum + runs.length, 0),
    ends: tally(threads.flatMap(({ runs }) => runs.map(({ status }) => status))),
    viewers: viewers.length + threads.reduce((sum, { pages }) => sum + pages.length, 0),
    reconnects: result.reconnects,
    eventsChecked: viewers.reduce((sum, { connections }) => sum + connections.flat().length, 0),
    modelCalls: charges?.units.length ?? 0,
    priced: charges ? countCharges(charges).priced : 0,
    faults: tally(faults.map(({ kind }) => kind)),
    skipped,
    lost: count("lost"),
    doubled: count("doubled"),
    disordered: count("disordered"),
    altered: count("altered"),
    hung: count("hung"),
    stuck: count("stuck"),
    wrongCharges: count("wrongCharge"),
    foreign: count("foreign"),
    disagreements: count("disagreement"),
  };
}

/** For people: one line a number, in the order of the report. */
export function tableOf(report: ChaosReport): string {
  const text = (value: ChaosReport[keyof ChaosReport]) => {
    if (typeof value === "number") return String(value);
    const parts = Array.isArray(value)
      ? value
      : Object.entries(value).map(([name, times]) => `${name} ${times}`);
    return parts.length === 0 ? "none" : parts.join(", ");
  };
  return Object.entries(report)
    .map(([name, value]) => `  ${words(name).padEnd(16)}${text(value)}`)
    .join("\n");
}

function words(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function tally(names: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const name of [...names].sort()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
