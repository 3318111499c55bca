import type { Clock } from "@throughline/ai-core";
import { createNamedTimers, type Telemetry } from "../client/environment.js";
import { keepSame } from "../client/store.js";
import type { RunView, ThreadView } from "../projection/thread-view.js";
import type { Circumstances, ServicePort, ThreadName } from "../transport/agent-service.js";
import type { HandedCommands } from "./adopt-scheduler.js";
import { type Answer, type Command, type CommandOutcome, nameRun, type ScheduledOutcome } from "./command.js";
import type { PendingSync } from "./pending-sync.js";
import { schedule } from "./scheduler.js";
import {
  type CommandPolicy,
  idleScheduler,
  needsLine,
  type QueuedRun,
  type Scheduler,
  type SchedulerEffect,
  type SchedulerInput,
  type SchedulerStep,
  type TimerName,
} from "./scheduler-state.js";

export interface PendingCommands {
  /** A `sync` that the agent has not acknowledged yet. */
  readonly sync: boolean;
  readonly running: boolean;
  /** A stop, or a fire that waits for the thread to be free. */
  readonly preempting: boolean;
  /** Runs that wait for their turn, in order. */
  readonly queue: readonly QueuedRun[];
}

export interface CommandShell {
  submit(command: Command): Promise<CommandOutcome>;
  /** Gives up what waits for its turn, by its id or that of a message in it. Gives the ids of its messages. */
  discard(id: string): readonly string[];
  /** What is shown is what the commands know of the thread. */
  tellOfRun(run: RunView): void;
  /** `lastAppliedClientMutationId` of the thread's state. */
  tellConfirmed(id: string): void;
  /** The same object for as long as nothing of it changes. */
  pending(): PendingCommands;
  /** A command is under way that has to see what becomes of the thread. */
  needsLine(): boolean;
  /** Goes on with what another tab had under way, beginning with this step. */
  adopt(handed: HandedCommands): void;
  /** What is under way, for another tab to go on with. From now on nothing of it is done here. */
  handOver(): Scheduler;
  /** The answer to a command that another tab sent before it handed it over. */
  answered(id: string, answer: Answer): void;
  /** Of messages that are on their way. */
  messageIds(): ReadonlySet<string>;
  close(): void;
}

export interface CommandShellOptions {
  readonly thread: ThreadName;
  readonly service: ServicePort;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly policy: CommandPolicy;
  readonly circumstances: () => Circumstances;
  readonly persist: (sync: PendingSync | undefined) => void;
  readonly view: () => ThreadView;
  readonly onChange: () => void;
  readonly onSettled: (id: string, outcome: CommandOutcome, messageIds: readonly string[]) => void;
  readonly onLateAnswer?: (id: string, answer: Answer) => void;
}

export const nonePending: PendingCommands = { sync: false, running: false, preempting: false, queue: [] };

/** Whether a command has no outcome yet. */
export function isPending({ sync, running, preempting, queue }: PendingCommands): boolean {
  return sync || running || preempting || queue.length > 0;
}

interface Settling {
  readonly resolve: ((outcome: CommandOutcome) => void) | undefined;
  readonly kind: Command["kind"];
  readonly at: number;
  readonly messageIds: readonly string[];
  /** The service's own name of its run, once that is known. */
  serviceRunId?: string;
  /** This tab has made its request itself. */
  isSentHere?: true;
}

const STOP_TRIES = 5;
const STOP_RETRY_MS = 500;

/** Performs what the scheduler decides, and keeps who waits for an outcome. */
export function createCommandShell(options: CommandShellOptions): CommandShell {
  const { thread, service, clock, telemetry } = options;
  let scheduler: Scheduler = idleScheduler;
  let pending = nonePending;
  let closed = false;
  const settling = new Map<string, Settling>();
  const timers = createNamedTimers<TimerName>(clock, (timer) => step({ kind: "due", timer }));

  function step(input: SchedulerInput): void {
    if (!closed) become(schedule(scheduler, input, options.policy));
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
        settle(effect.id, effect.outcome);
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
    const waiting = settling.get(sent.id);
    if (waiting) waiting.isSentHere = true;
    const tries = scheduler.sent;
    if (tries && (tries.tries > 0 || tries.resends > 0)) telemetry.replayed?.({ commandId: sent.id });
    const answer = await service.send(thread, sent, options.circumstances());
    if (closed) options.onLateAnswer?.(sent.id, answer);
    if (answer.kind === "busy") telemetry.busy?.({ commandId: sent.id, runId: answer.runId });
    answered(sent.id, answer);
  }

  function nameService(id: string, serviceRunId: string | undefined): void {
    const waiting = settling.get(id);
    if (waiting && serviceRunId !== undefined) waiting.serviceRunId = serviceRunId;
  }

  function answered(id: string, answer: Answer): void {
    if (answer.kind === "accepted") nameService(id, answer.serviceRunId);
    step({ kind: "answered", id, answer });
    if (answer.kind !== "accepted") return;
    if (answer.isCancelled) step({ kind: "ended", id, status: "cancelled" });
    else tellIfOver(id, answer.serviceRunId);
  }

  /** Sent again under its id, a command may find its run over: no stream will tell of that end any more. */
  function tellIfOver(id: string, serviceRunId: string | undefined): void {
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

  function settle(id: string, decided: ScheduledOutcome): void {
    const waiting = settling.get(id);
    if (closed && !waiting) return;
    const outcome = nameRun(decided, { runId: id, serviceRunId: waiting?.serviceRunId });
    settling.delete(id);
    telemetry.commandSettled?.({
      commandId: id,
      kind: waiting?.kind ?? "sync",
      outcome: outcome.kind,
      ms: clock.now() - (waiting?.at ?? clock.now()),
    });
    options.onSettled(id, outcome, waiting?.messageIds ?? []);
    waiting?.resolve?.(outcome);
  }

  function expect(command: Command, resolve?: (outcome: CommandOutcome) => void): void {
    const { id, kind } = command;
    settling.set(id, { resolve, kind, at: clock.now(), messageIds: messageIdsOf(command) });
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
    tellOfRun({ runId, serviceRunId, status }) {
      nameService(runId, serviceRunId);
      if (status === "running") {
        step({ kind: "observed", observed: { kind: "running", runId } });
        return;
      }
      step({ kind: "ended", id: runId, status });
      step({ kind: "observed", observed: { kind: "idle" } });
    },
    tellConfirmed: (id) => step({ kind: "confirmed", id }),
    pending: () => pending,
    needsLine: () => needsLine(scheduler),
    adopt({ commands, goOn }) {
      for (const command of commands) expect(command);
      become(goOn(options.policy));
    },
    handOver() {
      closed = true;
      timers.clearAll();
      settling.clear();
      return scheduler;
    },
    answered(id, answer) {
      // Asked for again meanwhile, what counts is the answer to that: it may differ.
      if (!settling.get(id)?.isSentHere) answered(id, answer);
    },
    messageIds: () => new Set([...settling.values()].flatMap(({ messageIds }) => messageIds)),
    close() {
      closed = true;
      timers.clearAll();
      for (const id of [...settling.keys()]) settle(id, { kind: "unreachable" });
    },
  };
}

function messageIdsOf(command: Command): readonly string[] {
  return command.kind === "stop" ? [] : (command.input.messages ?? []).map(({ id }) => id);
}

function pendingOf(
  { sync, sent, unconfirmed, preemption, queue }: Scheduler,
  before: PendingCommands,
): PendingCommands {
  return keepSame(before, {
    sync: Boolean(sync || unconfirmed) || sent?.command.kind === "sync",
    running: sent !== undefined,
    preempting: preemption !== undefined,
    queue: queue.length === 0 ? nonePending.queue : queue,
  });
}
