import type { Clock } from "@throughline/ai-core";
import { createNamedTimers, type Telemetry } from "../client/environment.js";
import { retainIdentity } from "../client/store.js";
import type { ThreadRun, ThreadView } from "../projection/thread-view.js";
import type { AgentService, RequestContext, ThreadName } from "../transport/agent-service.js";
import type { HandedCommands } from "./adopt-scheduler.js";
import {
  type Command,
  type CommandAck,
  type CommandOutcome,
  type ScheduledOutcome,
  withRunIds,
} from "./command.js";
import type { PendingSync } from "./pending-sync.js";
import { transitionScheduler } from "./scheduler.js";
import {
  type CommandPolicy,
  idleScheduler,
  needsStream,
  type QueuedRun,
  type SchedulerEffect,
  type SchedulerInput,
  type SchedulerState,
  type SchedulerStep,
  type TimerName,
} from "./scheduler-state.js";

export interface PendingCommands {
  /** A `sync` that the agent has not acknowledged yet. */
  readonly sync: boolean;
  readonly running: boolean;
  /** A stop, or a fire that waits for the thread to be free. */
  readonly preempting: boolean;
  /** Queued runs, in order. */
  readonly queue: readonly QueuedRun[];
}

export interface AgentCommandScheduler {
  submit(command: Command): Promise<CommandOutcome>;
  /** Discards a queued run, by its id or that of a message in it. Returns the ids of its messages. */
  discard(id: string): readonly string[];
  /** Observes a run of the thread: commands know of runs only by the projection. */
  observeRun(run: ThreadRun): void;
  /** Confirms a `sync`: `id` is `lastAppliedClientMutationId` of the thread's state. */
  confirmMutation(id: string): void;
  /** The pending commands: the same object while nothing in it changes. */
  pending(): PendingCommands;
  /** Whether a command under way needs the thread's stream. */
  needsStream(): boolean;
  /** Continues the commands of another tab, beginning with their first step. */
  adopt(handed: HandedCommands): void;
  /** Returns the commands under way, for another tab to continue. From now on this scheduler performs none of them. */
  handOver(): SchedulerState;
  /** Applies the ack of a command that another tab had sent before it handed the command over. */
  acked(id: string, ack: CommandAck): void;
  /** The ids of messages of commands under way. */
  messageIds(): ReadonlySet<string>;
  close(): void;
}

export interface AgentCommandSchedulerOptions {
  readonly thread: ThreadName;
  readonly service: AgentService;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly policy: CommandPolicy;
  readonly circumstances: () => RequestContext;
  readonly persist: (sync: PendingSync | undefined) => void;
  readonly view: () => ThreadView;
  readonly onChange: () => void;
  readonly onCompleted: (id: string, outcome: CommandOutcome, messageIds: readonly string[]) => void;
  readonly onLateAck?: (id: string, ack: CommandAck) => void;
}

export const noPendingCommands: PendingCommands = {
  sync: false,
  running: false,
  preempting: false,
  queue: [],
};

/** Whether a command has no outcome yet. */
export function isPending({ sync, running, preempting, queue }: PendingCommands): boolean {
  return sync || running || preempting || queue.length > 0;
}

interface AwaitedCommand {
  readonly resolve: ((outcome: CommandOutcome) => void) | undefined;
  readonly kind: Command["kind"];
  readonly at: number;
  readonly messageIds: readonly string[];
  /** The service's own id of its run, once that is known. */
  serviceRunId?: string;
  /** This tab sent the request itself. */
  isSentHere?: true;
}

const STOP_TRIES = 5;
const STOP_RETRY_MS = 500;

/** Runs the effects of the scheduler and resolves the outcomes of commands. */
export function createAgentCommandScheduler(options: AgentCommandSchedulerOptions): AgentCommandScheduler {
  const { thread, service, clock, telemetry } = options;
  let scheduler: SchedulerState = idleScheduler;
  let pending = noPendingCommands;
  let closed = false;
  const awaited = new Map<string, AwaitedCommand>();
  const timers = createNamedTimers<TimerName>(clock, (timer) => step({ kind: "due", timer }));

  function step(input: SchedulerInput): void {
    if (!closed) become(transitionScheduler(scheduler, input, options.policy));
  }

  function become([next, effects]: SchedulerStep): void {
    const changed = next !== scheduler;
    scheduler = next;
    pending = pendingOf(next, pending);
    for (const effect of effects) perform(effect);
    if (changed) options.onChange();
  }

  function perform(effect: SchedulerEffect): void {
    switch (effect.kind) {
      case "send":
        void send(effect.command);
        break;
      case "stop-run":
        void stopRun(effect.runId, 1);
        break;
      case "settle":
        complete(effect.id, effect.outcome);
        break;
      case "persist":
        options.persist(effect.sync);
        break;
      case "timer":
        timers.set(effect.name, effect.afterMs);
        break;
    }
  }

  async function send(sent: Exclude<Command, { kind: "stop" }>): Promise<void> {
    const waiting = awaited.get(sent.id);
    if (waiting) waiting.isSentHere = true;
    const tries = scheduler.sent;
    if (tries && (tries.tries > 0 || tries.resends > 0)) telemetry.replayed?.({ commandId: sent.id });
    const ack = await service.send(thread, sent, options.circumstances());
    if (closed) options.onLateAck?.(sent.id, ack);
    if (ack.kind === "busy") telemetry.busy?.({ commandId: sent.id, runId: ack.runId });
    acked(sent.id, ack);
  }

  function setServiceRunId(id: string, serviceRunId: string | undefined): void {
    const waiting = awaited.get(id);
    if (waiting && serviceRunId !== undefined) waiting.serviceRunId = serviceRunId;
  }

  function acked(id: string, ack: CommandAck): void {
    if (ack.kind === "accepted") setServiceRunId(id, ack.serviceRunId);
    step({ kind: "answered", id, ack });
    if (ack.kind !== "accepted") return;
    if (ack.isCancelled) step({ kind: "ended", id, status: "cancelled" });
    else completeIfEnded(id, ack.serviceRunId);
  }

  /** Completes a resent command whose run ended already: no stream delivers that end again. */
  function completeIfEnded(id: string, serviceRunId: string | undefined): void {
    const { run, calls } = options.view();
    if (run?.runId === id) {
      if (run.status !== "running") step({ kind: "ended", id, status: run.status });
      return;
    }
    const status = calls.findLast((known) => known.kind === "run" && known.runId === serviceRunId)?.status;
    if (status === undefined || status === "running") return;
    step({ kind: "ended", id, status: status === "ok" ? "success" : status === "lost" ? "error" : status });
  }

  /** Retries until the service acknowledges the stop. */
  async function stopRun(runId: string | undefined, tried: number): Promise<void> {
    if (closed) return;
    const ok = await service.stop(thread, runId);
    if (ok || tried >= STOP_TRIES) {
      step({ kind: "stop-answered", runId, ok });
      return;
    }
    clock.schedule(STOP_RETRY_MS, () => {
      if (scheduler.preemption) void stopRun(runId, tried + 1);
    });
  }

  function complete(id: string, decided: ScheduledOutcome): void {
    const waiting = awaited.get(id);
    if (closed && !waiting) return;
    const outcome = withRunIds(decided, { runId: id, serviceRunId: waiting?.serviceRunId });
    awaited.delete(id);
    telemetry.commandCompleted?.({
      commandId: id,
      kind: waiting?.kind ?? "sync",
      outcome: outcome.kind,
      ms: clock.now() - (waiting?.at ?? clock.now()),
    });
    options.onCompleted(id, outcome, waiting?.messageIds ?? []);
    waiting?.resolve?.(outcome);
  }

  function expect(command: Command, resolve?: (outcome: CommandOutcome) => void): void {
    const { id, kind } = command;
    awaited.set(id, { resolve, kind, at: clock.now(), messageIds: messageIdsOf(command) });
  }

  return {
    submit(submitted) {
      if (closed) return Promise.resolve({ kind: "unreachable" });
      return new Promise((resolve) => {
        expect(submitted, resolve);
        step({ kind: "submit", command: submitted });
      });
    },
    discard(id) {
      const queued = scheduler.queue.find((one) => one.id === id || messageIdsOf(one).includes(id));
      if (queued) step({ kind: "discard", id: queued.id });
      return queued ? messageIdsOf(queued) : [];
    },
    observeRun({ runId, serviceRunId, status }) {
      setServiceRunId(runId, serviceRunId);
      if (status === "running") {
        step({ kind: "observed", observed: { kind: "running", runId } });
        return;
      }
      step({ kind: "ended", id: runId, status });
      step({ kind: "observed", observed: { kind: "idle" } });
    },
    confirmMutation: (id) => step({ kind: "confirmed", id }),
    pending: () => pending,
    needsStream: () => needsStream(scheduler),
    adopt({ commands, resume }) {
      for (const command of commands) expect(command);
      become(resume(options.policy));
    },
    handOver() {
      closed = true;
      timers.clearAll();
      awaited.clear();
      return scheduler;
    },
    acked(id, ack) {
      // Resent by this tab meanwhile, the ack of that request counts: it may differ.
      if (!awaited.get(id)?.isSentHere) acked(id, ack);
    },
    messageIds: () => new Set([...awaited.values()].flatMap(({ messageIds }) => messageIds)),
    close() {
      closed = true;
      timers.clearAll();
      for (const id of [...awaited.keys()]) complete(id, { kind: "unreachable" });
    },
  };
}

function messageIdsOf(command: Command): readonly string[] {
  return command.kind === "stop" ? [] : (command.input.messages ?? []).map(({ id }) => id);
}

function pendingOf(
  { sync, sent, unconfirmed, preemption, queue }: SchedulerState,
  before: PendingCommands,
): PendingCommands {
  return retainIdentity(before, {
    sync: Boolean(sync || unconfirmed) || sent?.command.kind === "sync",
    running: sent !== undefined,
    preempting: preemption !== undefined,
    queue: queue.length === 0 ? noPendingCommands.queue : queue,
  });
}
