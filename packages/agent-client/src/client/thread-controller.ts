import type { Clock } from "@throughline/ai-core";
import type { HandedCommands } from "../commands/adopt-scheduler.js";
import { createCommandShell, type PendingCommands } from "../commands/agent-command-scheduler.js";
import type { Answer, Command, CommandOutcome } from "../commands/command.js";
import type { PendingSync } from "../commands/pending-sync.js";
import type { CommandPolicy, Scheduler } from "../commands/scheduler-state.js";
import type { ConnectionStatus } from "../connection/connection-state.js";
import type { BrowserStream, StreamReader, StreamSubscription } from "../connection/thread-stream.js";
import {
  type Authority,
  emptyProjection,
  type Projection,
  type ProjectionInput,
  project,
} from "../projection/agent-projection-reducer.js";
import type { ThreadView } from "../projection/thread-view.js";
import type { Circumstances, ServicePort, ThreadName } from "../transport/agent-service.js";
import type { EventText } from "../transport/event-stream.js";
import { readFrames } from "../transport/http-agent-service.js";
import type { AgentFrame } from "../wire/agent-event.js";
import type { Telemetry } from "./environment.js";
import { once } from "./store.js";

/** All that changes what is shown. */
export type ShownInput = Exclude<ProjectionInput, { kind: "claim" | "release" }>;

export interface LineHooks {
  /** Something that is shown changed. */
  readonly onChange: () => void;
  /** What was shown, in order: a tab that replays it shows the same. `texts`: what the frames of it were read from. */
  readonly onShown: (input: ShownInput, texts?: readonly EventText[]) => void;
  /** A command came out. */
  readonly onSettled?: (id: string, outcome: CommandOutcome) => void;
  /** The service answered a command that was handed over meanwhile. */
  readonly onLateAnswer?: (id: string, answer: Answer) => void;
}

export interface ThreadLineOptions extends LineHooks {
  readonly thread: ThreadName;
  readonly service: ServicePort;
  readonly stream: BrowserStream;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly commandPolicy: CommandPolicy;
  /** Asked for each request: what the page offers right now. */
  readonly circumstances: () => Circumstances;
  /** A `sync` that must survive a reload; `undefined`: none. */
  readonly persist: (sync: PendingSync | undefined) => void;
}

/** What one thread shows and does. */
export interface ThreadLine {
  view(): ThreadView;
  status(): ConnectionStatus;
  /** Commands that have no outcome yet. */
  pending(): PendingCommands;
  submit(command: Command): Promise<CommandOutcome>;
  /** Keeps the connection open until released. */
  open(): () => void;
  poll(): Promise<boolean>;
  /** Gives up a message that was refused, or a run that waits for its turn with the messages in it. */
  discard(id: string): void;
  /** Connects now instead of when it is due, and again after a refusal. */
  reconnect(): void;
  close(): void;
}

/** A line that another tab may go on with. */
export interface MovableLine extends ThreadLine {
  /** Where this line stands, for another tab that joins. */
  projection(): Projection;
  /** Takes over what another tab held, with the commands it had under way where it handed them over. */
  adopt(view: ThreadView, cursor: string | undefined, commands?: HandedCommands): void;
  /** Hands its commands over: from now on nothing of them is done here. */
  handOver(): Scheduler;
  /** The answer to a command that another tab sent before it handed it over. */
  answered(id: string, answer: Answer): void;
}

const CLOSED: ConnectionStatus = { kind: "closed" };

/** Performs what a thread's machines decide. */
export function createThreadLine(options: ThreadLineOptions): MovableLine {
  const { thread, service, telemetry } = options;
  let projection: Projection = emptyProjection;
  let openCount = 0;
  let subscription: StreamSubscription | undefined;
  let authority: Authority | undefined;
  /** A cursor was sent, and nothing came yet that says whether the service goes on from it. */
  let goesOn = false;
  const commands = createCommandShell({
    ...options,
    policy: options.commandPolicy,
    view: () => projection.view,
    onChange() {
      updateSubscription();
      options.onChange();
    },
    onSettled(id, outcome, messageIds) {
      // A run that was stopped before it began never had them: what the thread does not hold by now it will not hold.
      if (messageIds.length > 0) take({ kind: "unsent", messageIds });
      options.onSettled?.(id, outcome);
    },
  });

  function take(input: ProjectionInput, texts?: readonly EventText[]): Authority | undefined {
    const before = projection;
    const [next, effects] = project(projection, input);
    projection = next;
    if (isShown(input) && !effects.some(({ kind }) => kind === "stale")) options.onShown(input, texts);
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
          subscription?.startOver();
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

  const reader: StreamReader = {
    thread: { ...thread, view: "ag-ui" },
    begin() {
      const { cursor } = projection;
      authority = take({ kind: "claim", source: "detail-connect" });
      goesOn = cursor !== undefined;
      return cursor;
    },
    events(texts) {
      if (!authority) return;
      const frames = readFrames(texts);
      if (goesOn) {
        if (frames.some(isAnew)) subscription?.gap();
        goesOn = frames.every(({ id, event }) => id === undefined && event.type !== "STATE_SNAPSHOT");
      }
      take({ kind: "frames", authority, frames }, texts);
    },
    end: release,
    statusChanged: () => options.onChange(),
  };

  function release(): void {
    const held = authority;
    authority = undefined;
    if (held) take({ kind: "release", authority: held });
  }

  /** A page that is open, and every command that is under way, needs to see the thread. */
  function updateSubscription(): void {
    if (openCount > 0 || commands.needsLine()) {
      subscription ??= options.stream.subscribe(reader);
      return;
    }
    const left = subscription;
    subscription = undefined;
    left?.leave();
    release();
  }

  /** Asks once more after a refusal. */
  function retry(): void {
    if (subscription?.status().kind === "failed") subscription.reconnect();
  }

  return {
    view: () => projection.view,
    status: () => subscription?.status() ?? CLOSED,
    projection: () => projection,
    pending: commands.pending,
    submit(command) {
      const said = command.kind === "stop" ? [] : (command.input.messages ?? []);
      // At once, also what has to wait its turn or is turned away unsent: nothing a person wrote may vanish.
      if (said.length > 0) take({ kind: "sending", messages: said });
      retry();
      return commands.submit(command);
    },
    open() {
      openCount += 1;
      updateSubscription();
      retry();
      return once(() => {
        openCount -= 1;
        updateSubscription();
      });
    },
    async poll() {
      const polling = take({ kind: "claim", source: "poll" });
      // The page is open: its stream says more than any poll.
      if (!polling) return true;
      const texts = await service.poll(thread, projection.cursor);
      if (texts) take({ kind: "frames", authority: polling, frames: readFrames(texts) }, texts);
      take({ kind: "release", authority: polling });
      return texts !== undefined;
    },
    adopt(view, cursor, handed) {
      take({ kind: "adopt", view, cursor });
      if (handed) commands.adopt(handed);
      // What was being sent by a tab that is gone is asked for again here by who wants it, or never.
      const sending = commands.messageIds();
      const messageIds = view.messages.flatMap(({ id, local }) =>
        local === "sending" && !sending.has(id) ? [id] : [],
      );
      if (messageIds.length > 0) take({ kind: "unsent", messageIds });
    },
    handOver: commands.handOver,
    answered: commands.answered,
    discard(id) {
      for (const messageId of new Set([id, ...commands.discard(id)])) take({ kind: "discard", messageId });
    },
    reconnect: () => subscription?.reconnect(),
    close() {
      commands.close();
      subscription?.leave();
      subscription = undefined;
      release();
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
