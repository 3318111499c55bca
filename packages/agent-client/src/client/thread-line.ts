import type { Clock } from "@throughline/ai-core";
import type { Command, CommandOutcome } from "../commands/command.js";
import { schedule } from "../commands/scheduler.js";
import {
  type CommandPolicy,
  idleScheduler,
  type Scheduler,
  type SchedulerEffect,
  type SchedulerInput,
  type TimerName,
} from "../commands/scheduler-state.js";
import {
  type Connection,
  type ConnectionEffect,
  type ConnectionInput,
  type ConnectionPolicy,
  type ConnectionStatus,
  closedConnection,
  type StreamFailure,
  stepConnection,
} from "../connection/connection.js";
import {
  type Authority,
  emptyProjection,
  type Projection,
  type ProjectionInput,
  project,
} from "../projection/projection.js";
import type { RunView, ThreadView } from "../projection/thread-view.js";
import { withoutLastWords } from "../service/last-words.js";
import type { Circumstances, ServicePort, ThreadName } from "../service/service-port.js";
import type { AgentFrame } from "../wire/agent-event.js";
import { createNamedTimers } from "./named-timers.js";
import type { PendingSync } from "./storage.js";
import type { Telemetry } from "./telemetry.js";

export interface PendingCommands {
  /** A `sync` that the agent has not acknowledged yet. */
  readonly sync: boolean;
  readonly running: boolean;
  /** A stop, or a fire that waits for the thread to be free. */
  readonly preempting: boolean;
}

/** All that changes what is shown. */
export type ShownInput = Exclude<ProjectionInput, { kind: "claim" | "release" }>;

export interface LineHooks {
  /** Something that is shown changed. */
  readonly onChange: () => void;
  /** What was shown, in order: whoever replays it shows the same. */
  readonly onShown: (input: ShownInput) => void;
}

export interface ThreadLineOptions extends LineHooks {
  readonly thread: ThreadName;
  readonly service: ServicePort;
  readonly clock: Clock;
  readonly random: () => number;
  readonly telemetry: Telemetry;
  readonly connectionPolicy: ConnectionPolicy;
  readonly commandPolicy: CommandPolicy;
  /** Asked for each request: what the page offers right now. */
  readonly circumstances: () => Circumstances;
  /** A `sync` that must survive a reload; `undefined`: none. */
  readonly persist: (sync: PendingSync | undefined) => void;
}

/** What one thread shows and does, with its one connection: performs what the three machines decide. */
export interface ThreadLine {
  view(): ThreadView;
  status(): ConnectionStatus;
  /** Where this line stands, for another tab that joins. */
  projection(): Projection;
  /** Commands that have no outcome yet. */
  pending(): PendingCommands;
  submit(command: Command): Promise<CommandOutcome>;
  /** Keeps the connection open until released. */
  open(): () => void;
  poll(): Promise<boolean>;
  /** What the world told the connection. */
  tell(input: Extract<ConnectionInput, { kind: "online" | "visible" | "open" }>): void;
  /** Takes over what another tab held. */
  adopt(view: ThreadView, cursor: string | undefined): void;
  discard(messageId: string): void;
  /** Connects now instead of when it is due, and again after a refusal. */
  reconnect(): void;
  close(): void;
}

const STATUS_OF_CALL = {
  running: "success",
  ok: "success",
  error: "error",
  interrupted: "interrupted",
  cancelled: "cancelled",
  lost: "error",
} as const;
const STOP_TRIES = 5;
const STOP_RETRY_MS = 500;

export function createThreadLine(options: ThreadLineOptions): ThreadLine {
  const { thread, service, clock, telemetry } = options;
  let projection: Projection = emptyProjection;
  let connection: Connection = closedConnection;
  let scheduler: Scheduler = idleScheduler;
  let openCount = 0;
  let closed = false;
  const settling = new Map<string, { resolve(outcome: CommandOutcome): void; kind: string; at: number }>();
  const streams = new Map<
    number,
    { readonly cut: AbortController; readonly authority: Authority | undefined }
  >();
  const connectionTimers = createNamedTimers<"retry" | "watchdog">(clock, (name) =>
    connect({ kind: name === "retry" ? "retry-due" : "watchdog-due" }),
  );
  const commandTimers = createNamedTimers<TimerName>(clock, (timer) => command({ kind: "due", timer }));

  function take(input: ProjectionInput): Authority | undefined {
    const before = projection;
    const [next, effects] = project(projection, input);
    projection = next;
    if (isShown(input) && !effects.some(({ kind }) => kind === "stale")) options.onShown(input);
    let granted: Authority | undefined;
    for (const effect of effects) {
      switch (effect.kind) {
        case "granted":
          granted = effect.authority;
          break;
        case "stale":
          telemetry.staleDropped?.(effect.count);
          break;
        case "duplicate":
          telemetry.duplicateDropped?.(effect.count);
          break;
        case "misfit":
          telemetry.misfit?.(effect.type);
          if (connection.stream !== undefined) connect({ kind: "misfit", stream: connection.stream });
          break;
        case "acknowledged":
          command({ kind: "confirmed", id: effect.id });
          break;
        case "run":
          tellOfRun(effect.run);
          break;
        case "denied":
          break;
      }
    }
    if (next.view !== before.view) options.onChange();
    return granted;
  }

  /** What is shown is what the commands know of the thread. */
  function tellOfRun({ runId, status }: RunView): void {
    if (status === "running") {
      command({ kind: "observed", observed: { kind: "running", runId } });
      return;
    }
    command({ kind: "ended", id: runId, status });
    command({ kind: "observed", observed: { kind: "idle" } });
  }

  function connect(input: ConnectionInput): void {
    const before = connection.status;
    const moment = { now: clock.now(), random: options.random() };
    const [next, effects] = stepConnection(connection, input, moment, options.connectionPolicy);
    connection = next;
    for (const effect of effects) performConnection(effect);
    if (next.status !== before) options.onChange();
  }

  function performConnection(effect: ConnectionEffect): void {
    switch (effect.kind) {
      case "open-stream":
        void readStream(effect.stream);
        break;
      case "close-stream":
        closeStream(effect.stream);
        break;
      case "forget-cursor":
        // A frame that did not fit has taken the cursor with it.
        break;
      case "renew-credentials":
        void service.renew().then((ok) => connect({ kind: "renewed", ok }));
        break;
      case "timer":
        connectionTimers.set(effect.name, effect.at === undefined ? undefined : effect.at - clock.now());
        break;
      case "reconnecting":
        telemetry.reconnecting?.({ attempt: effect.attempt, waitMs: effect.waitMs });
        break;
    }
  }

  function closeStream(stream: number): void {
    const held = streams.get(stream);
    streams.delete(stream);
    held?.cut.abort();
    if (held?.authority) take({ kind: "release", authority: held.authority });
  }

  async function readStream(stream: number): Promise<void> {
    const cut = new AbortController();
    const { cursor } = projection;
    const authority = take({ kind: "claim", source: "detail-connect" });
    streams.set(stream, { cut, authority });
    let goesOn = cursor !== undefined;
    let failure: StreamFailure | undefined;
    const end = await service.connect(
      thread,
      { ...options.circumstances(), cursor, signal: cut.signal },
      {
        opened: () => connect({ kind: "opened", stream }),
        heard: () => connect({ kind: "heard", stream }),
        frames(all) {
          if (!authority) return;
          const told = withoutLastWords(all);
          if (told.failure) failure = told.failure;
          const { frames } = told;
          if (frames.length === 0) return;
          if (goesOn && frames.some(isAnew)) {
            goesOn = false;
            telemetry.gap?.();
            connect({ kind: "gap", stream });
          }
          if (frames.some(({ id }) => id !== undefined)) goesOn = false;
          take({ kind: "frames", authority, frames });
        },
      },
    );
    closeStream(stream);
    if (failure) connect({ kind: "failed", stream, failure });
    else connect(end.kind === "ended" ? { kind: "ended", stream } : { ...end, stream });
  }

  function command(input: SchedulerInput): void {
    if (closed) return;
    const [next, effects] = schedule(scheduler, input, options.commandPolicy);
    const changed = next !== scheduler;
    scheduler = next;
    for (const effect of effects) performCommand(effect);
    if (!changed) return;
    updateLine();
    options.onChange();
  }

  function performCommand(effect: SchedulerEffect): void {
    switch (effect.kind) {
      case "send":
        void send(effect.command);
        break;
      case "stop-run":
        void stopRun(effect.runId, 1);
        break;
      case "observe":
        // The line is open for as long as a command is under way.
        break;
      case "settle":
        settle(effect.id, effect.outcome);
        break;
      case "persist":
        options.persist(effect.sync);
        break;
      case "timer":
        commandTimers.set(effect.name, effect.afterMs);
        break;
    }
  }

  async function send(sent: Exclude<Command, { kind: "stop" }>): Promise<void> {
    const tries = scheduler.sent;
    if (tries && (tries.tries > 0 || tries.resends > 0)) telemetry.replayed?.({ commandId: sent.id });
    const { messages } = sent.input;
    if (messages && messages.length > 0) take({ kind: "sending", messages });
    const answer = await service.send(thread, sent, options.circumstances());
    if (answer.kind === "busy") telemetry.busy?.({ commandId: sent.id, runId: answer.runId });
    command({ kind: "answered", id: sent.id, answer });
    if (answer.kind !== "accepted") return;
    if (answer.isCancelled) command({ kind: "ended", id: sent.id, status: "cancelled" });
    else tellIfOver(sent.id, answer.serviceRunId);
  }

  /** Sent again under its id, a command may find its run over: no stream will tell of that end any more. */
  function tellIfOver(id: string, serviceRunId: string | undefined): void {
    const { run, calls } = projection.view;
    if (run?.runId === id) {
      if (run.status !== "running") command({ kind: "ended", id, status: run.status });
      return;
    }
    const call = calls.findLast((known) => known.kind === "run" && known.runId === serviceRunId);
    if (call && call.endedAt !== null) command({ kind: "ended", id, status: STATUS_OF_CALL[call.status] });
  }

  /** A stop that does not arrive would be a run that nobody stops. */
  async function stopRun(runId: string | undefined, tried: number): Promise<void> {
    if (closed) return;
    const ok = await service.stop(thread, runId);
    if (ok || tried >= STOP_TRIES) {
      command({ kind: "stop-answered", runId, ok });
      return;
    }
    clock.schedule(STOP_RETRY_MS, () => {
      if (scheduler.preemption) void stopRun(runId, tried + 1);
    });
  }

  function settle(id: string, outcome: CommandOutcome): void {
    const waiting = settling.get(id);
    settling.delete(id);
    telemetry.commandSettled?.({
      commandId: id,
      kind: waiting?.kind ?? "sync",
      outcome: outcome.kind,
      ms: clock.now() - (waiting?.at ?? clock.now()),
    });
    waiting?.resolve(outcome);
  }

  /** Whoever looks, and every command that is under way, needs the line. */
  function updateLine(): void {
    const { sent, preemption, sync, queue, unconfirmed } = scheduler;
    const isBusy = Boolean(sent || preemption || sync || queue.length > 0 || unconfirmed);
    if (openCount > 0 || isBusy) {
      if (!connection.isWanted) connect({ kind: "open" });
    } else if (connection.isWanted) connect({ kind: "close" });
  }

  return {
    view: () => projection.view,
    status: () => connection.status,
    projection: () => projection,
    pending: () => ({
      sync:
        scheduler.sync !== undefined ||
        scheduler.sent?.command.kind === "sync" ||
        scheduler.unconfirmed !== undefined,
      running: scheduler.sent !== undefined,
      preempting: scheduler.preemption !== undefined,
    }),
    submit(submitted) {
      if (closed) return Promise.resolve({ kind: "unreachable" });
      // A tab that lost its leader asks again, perhaps behind a newer wish.
      const newer = submitted.kind === "sync" ? scheduler.sync : undefined;
      if (newer && newer.id > submitted.id) return Promise.resolve({ kind: "superseded", by: newer.id });
      const said = submitted.kind === "stop" ? [] : (submitted.input.messages ?? []);
      // At once, also what has to wait its turn or is turned away unsent: nothing a person wrote may vanish.
      if (said.length > 0) take({ kind: "sending", messages: said });
      return new Promise<CommandOutcome>((resolve) => {
        settling.set(submitted.id, { resolve, kind: submitted.kind, at: clock.now() });
        command({ kind: "submit", command: submitted });
      }).then((outcome) => {
        // A run that was stopped before it began never had them: what the thread does not hold by now it will not hold.
        if (said.length > 0) take({ kind: "unsent", messageIds: said.map(({ id }) => id) });
        return outcome;
      });
    },
    open() {
      openCount += 1;
      updateLine();
      let released = false;
      return () => {
        if (released) return;
        released = true;
        openCount -= 1;
        updateLine();
      };
    },
    async poll() {
      const authority = take({ kind: "claim", source: "poll" });
      // The page is open: its stream says more than any poll.
      if (!authority) return true;
      const frames = await service.poll(thread);
      if (frames) take({ kind: "frames", authority, frames });
      take({ kind: "release", authority });
      return frames !== undefined;
    },
    tell: connect,
    adopt(view, cursor) {
      take({ kind: "adopt", view, cursor });
      // Whoever was sending them is gone with the other tab, or asks again here.
      const messageIds = view.messages.flatMap(({ id, local }) => (local === "sending" ? [id] : []));
      if (messageIds.length > 0) take({ kind: "unsent", messageIds });
    },
    discard: (messageId) => void take({ kind: "discard", messageId }),
    reconnect() {
      // A line that failed is wanted no more, though pages may still be open; one without pages is nobody's to open.
      if (openCount > 0 || connection.isWanted) connect({ kind: "reconnect" });
    },
    close() {
      closed = true;
      connect({ kind: "close" });
      commandTimers.clearAll();
      connectionTimers.clearAll();
      for (const id of [...settling.keys()]) settle(id, { kind: "unreachable" });
    },
  };
}

function isShown(input: ProjectionInput): input is ShownInput {
  return input.kind !== "claim" && input.kind !== "release";
}

/** Asked to go on, the service told everything instead. */
function isAnew({ id, event }: AgentFrame): boolean {
  return id === undefined && event.type === "STATE_SNAPSHOT";
}
