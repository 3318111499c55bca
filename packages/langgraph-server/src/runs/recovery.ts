import type {
  Clock,
  GraphStatePort,
  LogEntry,
  LogPosition,
  RunStatus,
  StreamedMessage,
} from "@throughline/ai-core";
import type { ThreadProjection } from "@throughline/reading";
import type { Lease, LeasedRun, RunRecord, RunRegistry, ThreadLog } from "@throughline/thread-log";
import type { ServiceObserver } from "../operations/observer.js";
import { type Poller, poll } from "../operations/poller.js";
import { readRun } from "../streams/read-projection.js";

/** The starting point of an attempt. */
export type RecoveryPlan =
  /** Nothing of the run is in the log. */
  | { readonly kind: "fresh" }
  /** An earlier attempt was shown; these of its messages are in no checkpoint and will be streamed again. */
  | { readonly kind: "again"; readonly withdrawn: readonly string[] }
  /** Its end is in the log, and its driver died before the registry recorded it. Only where the two are different stores. */
  | { readonly kind: "ended"; readonly status: RunStatus; readonly interrupts: readonly string[] };

/** R27: called after the fence was raised, so that the log and checkpoint read here can't change any more. */
export async function planRecovery(
  { log, state }: { readonly log: Pick<ThreadLog, "read" | "terminal">; readonly state: GraphStatePort },
  run: RunRecord,
  { fold, position }: { readonly fold: ThreadProjection; readonly position: LogPosition | undefined },
): Promise<RecoveryPlan> {
  if (run.attempt === 0 || position === undefined) return { kind: "fresh" };
  const end = await log.terminal(run.thread, run.runId);
  if (end?.envelope.type === "run_end") {
    const { status } = end.envelope.payload;
    const interrupts = fold.interrupts.map(({ interrupt_id }) => interrupt_id);
    return { kind: "ended", status, interrupts };
  }
  const entries = await readRun(log, run.thread, run.runId, position);
  if (entries.length === 0) return { kind: "fresh" };
  const shown = streamedMessages(entries);
  const committed = await state.committedMessages(
    { graphId: run.graphId, threadId: run.thread.threadId },
    shown,
  );
  return {
    kind: "again",
    withdrawn: shown.map(({ messageId }) => messageId).filter((id) => !committed.has(id)),
  };
}

/** R27: what a run showed so far, and where each message came from, which is what decides whether a checkpoint holds it. */
export function streamedMessages(entries: readonly LogEntry[]): readonly StreamedMessage[] {
  const steps = new Map<string, number>();
  const reached = new Map<string, number>();
  const shown = new Map<string, StreamedMessage>();

  function show(messageId: string, path: string | null, runId: string, step: number | null): void {
    const inTask = path !== null && path !== runId;
    shown.set(messageId, {
      messageId,
      ns: inTask ? path.split("|") : [],
      // No checkpoint reaches a step that is not known, so only the task's own result can vouch for such a message.
      step: step ?? (inTask ? steps.get(path) : undefined) ?? Number.MAX_SAFE_INTEGER,
    });
  }

  for (const { envelope } of entries) {
    switch (envelope.type) {
      case "subgraph_checkpoint":
        if (envelope.payload.step !== null) reached.set(envelope.call_id, envelope.payload.step);
        break;
      case "step_start": {
        const step = envelope.payload.step ?? stepAfter(reached.get(envelope.parent_id ?? ""));
        if (step !== undefined) steps.set(envelope.call_id, step);
        break;
      }
      case "llm_start":
        show(envelope.payload.message_id, envelope.parent_id, envelope.run_id, envelope.payload.step);
        break;
      case "tool_end":
        if (envelope.payload.kind === "tool" && envelope.payload.message_id !== undefined) {
          show(envelope.payload.message_id, envelope.parent_id, envelope.run_id, null);
        }
        break;
      case "state_snapshot":
        // No step is known of them: withdrawn, and shown again by the first state that holds them.
        for (const { message } of envelope.payload.changed_messages ?? [])
          show(message.id, null, envelope.run_id, null);
        break;
      case "retract":
        for (const messageId of envelope.payload.message_ids) shown.delete(messageId);
        break;
    }
  }
  return [...shown.values()];
}

/** LangGraph reports no step when a task begins, but a graph stores each of its steps before the next one begins. */
function stepAfter(checkpoint: number | undefined): number | undefined {
  return checkpoint === undefined ? undefined : checkpoint + 1;
}

export interface ReaperOptions {
  readonly registry: Pick<RunRegistry, "claimExpired" | "claimQueued">;
  readonly lease: Lease;
  readonly clock: Clock;
  readonly everyMs: number;
  /** In [0, 1): spreads instances that started together. */
  readonly random: () => number;
  readonly observer: Pick<ServiceObserver, "failed">;
  /** How many more runs this instance may drive. */
  readonly room: () => number;
  readonly drive: (leased: LeasedRun) => void;
}

/** A poll is over when everything that was due, and fits, is being driven. */
export type Reaper = Poller;

const PER_CLAIM = 16;

/** R27: claims runs whose driver is gone, and queued runs whose thread is free. At once, then at intervals. */
export function startReaper(options: ReaperOptions): Reaper {
  const { registry, lease, observer, room, drive } = options;

  async function claimAll(
    closing: AbortSignal,
    claim: (lease: Lease, limit: number) => Promise<readonly LeasedRun[]>,
  ): Promise<void> {
    while (!closing.aborted) {
      const limit = Math.min(PER_CLAIM, room());
      if (limit <= 0) return;
      const claimed = await claim(lease, limit);
      claimed.forEach(drive);
      if (claimed.length < limit) return;
    }
  }

  return poll({
    ...options,
    async once(closing) {
      await claimAll(closing, (by, limit) => registry.claimExpired(by, limit));
      await claimAll(closing, (by, limit) => registry.claimQueued(by, limit));
      return undefined;
    },
    failed: (error) => observer.failed("Abandoned and queued runs could not be claimed.", error),
  });
}
