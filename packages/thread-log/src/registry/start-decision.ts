import { type GraphRunStart, ThroughlineError } from "@throughline/ai-core";
import type { BusyStrategy, RunName, StartLook, StartResult, StartRun, ThreadRuns } from "./run-registry.js";

export interface StartRequest {
  readonly start: GraphRunStart;
  readonly strategy: BusyStrategy;
}

export type StartDecision =
  | { readonly kind: "attach"; readonly runId: string }
  | { readonly kind: "cancel" }
  | { readonly kind: "conflict"; readonly interruptIds: readonly string[] }
  | { readonly kind: "interrupt_pending"; readonly interruptIds: readonly string[] }
  | { readonly kind: "busy"; readonly runId: string }
  | { readonly kind: "queue"; readonly ahead: number; readonly preempted: string | undefined }
  | { readonly kind: "run" };

/**
 * Decides whether a run starts (R24, R25 and R28), the same for every store. The order matters: the same request again is the
 * same run, even if its interrupt was answered meanwhile; a stop spares the answers of the run it cancels.
 */
export function decideStart(runs: ThreadRuns, { start, strategy }: StartRequest): StartDecision {
  if (runs.same !== undefined) return { kind: "attach", runId: runs.same };
  if (runs.stopped) return { kind: "cancel" };
  const answered = start.kind === "resume" ? judgeAnswers(runs, start.answers) : undefined;
  if (answered !== undefined) return answered;
  const { running, queued } = runs;
  const pending = runs.interrupts.filter(({ answeredBy }) => answeredBy === undefined);
  const waits = start.kind === "input" && strategy !== "preempt";
  if (running === undefined && waits && pending.length > 0) {
    return { kind: "interrupt_pending", interruptIds: pending.map(({ interruptId }) => interruptId) };
  }
  // An answer goes before what waits for it.
  const waiting = start.kind === "resume" || strategy === "preempt" ? undefined : queued[0];
  const occupant = running ?? waiting;
  if (occupant === undefined) return { kind: "run" };
  switch (strategy) {
    case "reject":
      return { kind: "busy", runId: occupant };
    case "enqueue":
      return { kind: "queue", ahead: queued.length + (running === undefined ? 0 : 1), preempted: undefined };
    case "preempt":
      return { kind: "queue", ahead: runs.preempting + 1, preempted: running };
  }
}

/** R28: `undefined` when every answer is to an open interrupt. */
function judgeAnswers(
  runs: ThreadRuns,
  answers: Extract<GraphRunStart, { kind: "resume" }>["answers"],
): StartDecision | undefined {
  const known = new Map(runs.interrupts.map((interrupt) => [interrupt.interruptId, interrupt]));
  const closed = Object.entries(answers).flatMap(([interruptId, answer]) => {
    const interrupt = known.get(interruptId);
    if (interrupt && interrupt.answeredBy === undefined) return [];
    const sameAnswer = interrupt?.answer === canonicalJson(answer);
    return [{ interruptId, answeredBy: sameAnswer ? interrupt?.answeredBy : undefined }];
  });
  const first = closed[0];
  if (first === undefined) return undefined;
  const runId = first.answeredBy;
  const allAsBefore =
    closed.length === Object.keys(answers).length && closed.every(({ answeredBy }) => answeredBy === runId);
  return runId !== undefined && allAsBefore
    ? { kind: "attach", runId }
    : { kind: "conflict", interruptIds: closed.map(({ interruptId }) => interruptId) };
}

/** Equal for equal values, whatever the order of their keys. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

export function answerIds(start: GraphRunStart): readonly string[] {
  return start.kind === "resume" ? Object.keys(start.answers) : [];
}

/** The request was written before, and its answer was lost: the run is still the caller's to drive. */
export function retriedStart(
  { runId, owner, isRetry }: StartRun,
  { same, head, runs }: StartLook,
): StartResult | undefined {
  if (!isRetry || same?.runId !== runId || head === undefined) return undefined;
  const fence = { threadId: same.thread.threadId, runId, token: same.token };
  if (same.status === "running" && same.owner === owner) return { kind: "started", run: same, fence, head };
  if (same.status !== "queued") return undefined;
  const ahead = runs.queued.indexOf(runId) + (runs.running === undefined ? 0 : 1);
  return { kind: "queued", run: same, ahead, preempted: undefined };
}

/** R25: long enough for a run that overtakes its stop on the way, short enough that it is gone when the name is used again. */
export const STOP_TOMBSTONE_MS = 60_000;

/** R24: an upstream that closes its stream late is free again within a second. */
export const BUSY_RETRY_MS = 1_000;

const MAX_ALIAS = 256;

/** An alias comes from a client and is part of a key. */
export function checkAlias(alias: string | undefined): void {
  if (alias === undefined) return;
  if (alias.length >= 1 && alias.length <= MAX_ALIAS && !/[\p{Cc}\p{Cs}]/u.test(alias)) return;
  throw new ThroughlineError(
    "invalid_input",
    `runId: 1–${MAX_ALIAS} characters, none of them a control character`,
    {
      details: { field: "runId" },
    },
  );
}

export function nameOf(name: RunName): string {
  return "runId" in name ? name.runId : name.alias;
}
