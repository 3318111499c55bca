import { ensureLitellm } from "../scripts/ensure-litellm.mjs";
import { FAULT_KINDS, type FaultKind } from "./plan/fault-plan.js";
import { type ChaosReport, reportOf } from "./report.js";
import { runChaos } from "./run-chaos.js";
import { saveFailure } from "./save-failure.js";
import { findClockLibrary } from "./stage/faulty-clock.js";

export { tableOf } from "./report.js";

export interface ProgramOptions {
  readonly seed: number;
  readonly minutes: number;
  /** Threads that are worked in at the same time. */
  readonly roomsAtOnce: number;
  readonly isContinuous: boolean;
  /** Names of faults that are left out. */
  readonly without: readonly string[];
  readonly progress: (line: string) => void;
}

export interface ProgramResult {
  readonly report: ChaosReport;
  /** The findings in words. */
  readonly findings: readonly string[];
  /** Where a failing history was saved. */
  readonly folder: string | undefined;
}

const INSTANCES = [
  { name: "full-1" },
  { name: "full-2" },
  { name: "api", roles: "api" },
  { name: "worker", roles: "worker" },
] as const;

/** The long form: everything real, mixed roles, every kind of fault. */
export async function runProgram(options: ProgramOptions): Promise<ProgramResult> {
  const { seed, minutes, progress, isContinuous, roomsAtOnce } = options;
  const without = options.without.map(faultNamed);
  const skipped: string[] = without.map((kind) => `${kind}, which was left out`);
  const need = (missing: string | undefined, consequence: string) => {
    if (missing === undefined) return;
    if (isContinuous) throw new Error(missing);
    skipped.push(consequence);
    progress(`Skipped: ${missing} ${consequence}.`);
  };
  const noLitellm = await ensureLitellm();
  need(noLitellm, "no LiteLLM: model calls are scripted and nothing is billed");
  const clockLibrary = findClockLibrary();
  need(clockLibrary ? undefined : "libfaketime is not installed (`apt install faketime`).", "no clock jumps");
  const result = await runChaos({
    seed,
    durationMs: minutes * 60_000,
    instances: INSTANCES,
    withLitellm: noLitellm === undefined,
    withReplica: true,
    roomsAtOnce,
    deedsPerRoom: 5,
    faultScale: 1,
    patienceMs: 120_000,
    clockLibrary,
    without,
    progress,
  });
  const report = reportOf(result, skipped);
  const left = without.length > 0 ? ` --without ${without.join(",")}` : "";
  const command = `npm run chaos -- --seed ${seed} --minutes ${minutes} --rooms ${roomsAtOnce}${left}`;
  return {
    report,
    findings: result.findings.map(({ kind, thread, words }) => `${kind}: ${thread} ${words}`),
    folder: result.findings.length > 0 ? saveFailure(result, command, new Date()) : undefined,
  };
}

function faultNamed(name: string): FaultKind {
  const kinds: readonly FaultKind[] = Object.values(FAULT_KINDS).flat();
  const kind = kinds.find((each) => each === name);
  if (kind === undefined) throw new Error(`Unknown fault "${name}". Available: ${kinds.join(", ")}.`);
  return kind;
}
