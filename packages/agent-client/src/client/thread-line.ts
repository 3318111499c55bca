import type { Clock } from "@throughline/ai-core";
import type { Command, CommandOutcome } from "../commands/command.js";
import type { CommandPolicy } from "../commands/scheduler-state.js";
import {
  type Connection,
  type ConnectionEffect,
  type ConnectionInput,
  type ConnectionPolicy,
  type ConnectionStatus,
  closedConnection,
  type StreamFailure,
  stepConnection,
  type TimerName,
} from "../connection/connection.js";
import {
  type Authority,
  emptyProjection,
  type Projection,
  type ProjectionInput,
  project,
} from "../projection/projection.js";
import type { ThreadView } from "../projection/thread-view.js";
import { withoutLastWords } from "../service/last-words.js";
import type { Circumstances, ServicePort, ThreadName } from "../service/service-port.js";
import type { AgentFrame } from "../wire/agent-event.js";
import { createCommandShell, type PendingCommands } from "./command-shell.js";
import { createNamedTimers } from "./named-timers.js";
import type { PendingSync } from "./storage.js";
import type { Telemetry } from "./telemetry.js";

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

export function createThreadLine(options: ThreadLineOptions): ThreadLine {
  const { thread, service, clock, telemetry } = options;
  let projection: Projection = emptyProjection;
  let connection: Connection = closedConnection;
  let openCount = 0;
  const streams = new Map<
    number,
    { readonly cut: AbortController; readonly authority: Authority | undefined }
  >();
  const timers = createNamedTimers<TimerName>(clock, (timer) => connect({ kind: "due", timer }));
  const commands = createCommandShell({
    ...options,
    policy: options.commandPolicy,
    view: () => projection.view,
    onChange() {
      updateLine();
      options.onChange();
    },
  });

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
          commands.tellConfirmed(effect.id);
          break;
        case "run":
          commands.tellOfRun(effect.run);
          break;
      }
    }
    if (next.view !== before.view) options.onChange();
    return granted;
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
      case "renew":
        void service.renew().then((ok) => connect({ kind: "renewed", ok }));
        break;
      case "timer":
        timers.set(effect.name, effect.at === undefined ? undefined : effect.at - clock.now());
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
    connect(failure ? { kind: "failed", stream, failure } : { ...end, stream });
  }

  /** Whoever looks, and every command that is under way, needs the line. */
  function updateLine(): void {
    if (openCount > 0 || commands.needsLine()) {
      if (!connection.isWanted) connect({ kind: "open" });
    } else if (connection.isWanted) connect({ kind: "close" });
  }

  return {
    view: () => projection.view,
    status: () => connection.status,
    projection: () => projection,
    pending: commands.pending,
    async submit(command) {
      const said = command.kind === "stop" ? [] : (command.input.messages ?? []);
      // At once, also what has to wait its turn or is turned away unsent: nothing a person wrote may vanish.
      if (said.length > 0) take({ kind: "sending", messages: said });
      const outcome = await commands.submit(command);
      // A run that was stopped before it began never had them: what the thread does not hold by now it will not hold.
      if (said.length > 0) take({ kind: "unsent", messageIds: said.map(({ id }) => id) });
      return outcome;
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
      commands.close();
      connect({ kind: "close" });
      timers.clearAll();
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
