import type { Clock } from "@throughline/ai-core";
import type { HandedCommands } from "../commands/adopt-scheduler.js";
import { createAgentCommandScheduler, type PendingCommands } from "../commands/agent-command-scheduler.js";
import type { Command, CommandAck, CommandOutcome } from "../commands/command.js";
import type { PendingSync } from "../commands/pending-sync.js";
import type { CommandPolicy, SchedulerState } from "../commands/scheduler-state.js";
import type { ConnectionStatus } from "../connection/connection-state.js";
import type { StreamReader, StreamSubscription, ThreadStream } from "../connection/thread-stream.js";
import {
  type Authority,
  emptyProjection,
  type Projection,
  type ProjectionInput,
  project,
} from "../projection/agent-projection-reducer.js";
import type { ThreadView } from "../projection/thread-view.js";
import type { AgentService, RequestContext, ThreadName } from "../transport/agent-service.js";
import type { SseText } from "../transport/event-stream.js";
import { readFrames } from "../transport/http-agent-service.js";
import type { AgUiFrame } from "../wire/agent-event.js";
import type { Telemetry } from "./environment.js";
import { once } from "./store.js";

/** The inputs that change the view of a thread. */
export type ShownInput = Exclude<ProjectionInput, { kind: "claim" | "release" }>;

export interface ControllerHooks {
  /** The UI state changed. */
  readonly onChange: () => void;
  /** An input was reduced; a tab that replays all in order has the same view. `texts`: the unparsed texts of its frames. */
  readonly onShown: (input: ShownInput, texts?: readonly SseText[]) => void;
  /** A command has an outcome. */
  readonly onCompleted?: (id: string, outcome: CommandOutcome) => void;
  /** The service acknowledged a command that was handed over to another tab meanwhile. */
  readonly onLateAck?: (id: string, ack: CommandAck) => void;
}

export interface ThreadControllerOptions extends ControllerHooks {
  readonly thread: ThreadName;
  readonly service: AgentService;
  readonly stream: ThreadStream;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly commandPolicy: CommandPolicy;
  /** Called for each request: the tools and the context of the page at that moment. */
  readonly circumstances: () => RequestContext;
  /** A `sync` that must survive a reload; `undefined`: none. */
  readonly persist: (sync: PendingSync | undefined) => void;
}

/** The view, the connection and the commands of one thread. */
export interface ThreadController {
  view(): ThreadView;
  status(): ConnectionStatus;
  /** Commands that have no outcome yet. */
  pending(): PendingCommands;
  submit(command: Command): Promise<CommandOutcome>;
  /** Opens the connection. Returns a function that releases it. */
  open(): () => void;
  poll(): Promise<boolean>;
  /** Discards a refused message, or a queued run with its messages. */
  discard(id: string): void;
  /** Connects now instead of after the backoff, also after a refusal. */
  reconnect(): void;
  close(): void;
}

/** A controller that can be moved to another tab. */
export interface MovableController extends ThreadController {
  /** The current projection, for another tab that joins. */
  projection(): Projection;
  /** Adopts the view and the cursor of another tab, and its commands under way where it handed them over. */
  adopt(view: ThreadView, cursor: string | undefined, commands?: HandedCommands): void;
  /** Hands its commands over to another tab: from now on this controller performs none of them. */
  handOver(): SchedulerState;
  /** Applies the ack of a command that another tab had sent before it handed the command over. */
  acked(id: string, ack: CommandAck): void;
}

const CLOSED: ConnectionStatus = { kind: "closed" };

/** Creates the effect runner of one thread: it performs the effects of the stream reader, the projection and the scheduler. */
export function createThreadController(options: ThreadControllerOptions): MovableController {
  const { thread, service, telemetry } = options;
  let projection: Projection = emptyProjection;
  let openCount = 0;
  let subscription: StreamSubscription | undefined;
  let authority: Authority | undefined;
  /** A cursor was sent, and no frame shows yet whether the service resumes from it. */
  let isResuming = false;
  const commands = createAgentCommandScheduler({
    ...options,
    policy: options.commandPolicy,
    view: () => projection.view,
    onChange() {
      updateSubscription();
      options.onChange();
    },
    onCompleted(id, outcome, messageIds) {
      // A run that was stopped before it began never had them: messages that the thread lacks by now will never arrive.
      if (messageIds.length > 0) apply({ kind: "unsent", messageIds });
      options.onCompleted?.(id, outcome);
    },
  });

  function apply(input: ProjectionInput, texts?: readonly SseText[]): Authority | undefined {
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
          subscription?.resync();
          break;
        case "acknowledged":
          commands.confirmMutation(effect.id);
          break;
        case "run":
          commands.observeRun(effect.run);
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
      authority = apply({ kind: "claim", source: "detail-connect" });
      isResuming = cursor !== undefined;
      return cursor;
    },
    events(texts) {
      if (!authority) return;
      const frames = readFrames(texts);
      if (isResuming) {
        if (frames.some(isFullSnapshot)) subscription?.gap();
        isResuming = frames.every(({ id, event }) => id === undefined && event.type !== "STATE_SNAPSHOT");
      }
      apply({ kind: "frames", authority, frames }, texts);
    },
    end: release,
    statusChanged: () => options.onChange(),
  };

  function release(): void {
    const held = authority;
    authority = undefined;
    if (held) apply({ kind: "release", authority: held });
  }

  /** Subscribes while a page is open or a command is under way: both need the thread's frames. */
  function updateSubscription(): void {
    if (openCount > 0 || commands.needsStream()) {
      subscription ??= options.stream.subscribe(reader);
      return;
    }
    const left = subscription;
    subscription = undefined;
    left?.leave();
    release();
  }

  /** Reconnects after a refusal. */
  function retry(): void {
    if (subscription?.status().kind === "failed") subscription.reconnect();
  }

  return {
    view: () => projection.view,
    status: () => subscription?.status() ?? CLOSED,
    projection: () => projection,
    pending: commands.pending,
    submit(command) {
      const messages = command.kind === "stop" ? [] : (command.input.messages ?? []);
      // At once, also messages that have to wait or are refused unsent: nothing a person wrote may vanish.
      if (messages.length > 0) apply({ kind: "sending", messages });
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
      const polling = apply({ kind: "claim", source: "poll" });
      // The page is open: its stream delivers more than any poll.
      if (!polling) return true;
      const texts = await service.poll(thread, projection.cursor);
      if (texts) apply({ kind: "frames", authority: polling, frames: readFrames(texts) }, texts);
      apply({ kind: "release", authority: polling });
      return texts !== undefined;
    },
    adopt(view, cursor, handed) {
      apply({ kind: "adopt", view, cursor });
      if (handed) commands.adopt(handed);
      // In-flight messages of a closed tab: their owner resubmits them, or nothing does.
      const sending = commands.messageIds();
      const messageIds = view.messages.flatMap(({ id, local }) =>
        local === "sending" && !sending.has(id) ? [id] : [],
      );
      if (messageIds.length > 0) apply({ kind: "unsent", messageIds });
    },
    handOver: commands.handOver,
    acked: commands.acked,
    discard(id) {
      for (const messageId of new Set([id, ...commands.discard(id)])) apply({ kind: "discard", messageId });
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

/** The first frame of a full snapshot, which the service sends where it can't resume from the cursor. */
function isFullSnapshot({ id, event }: AgUiFrame): boolean {
  return id === undefined && event.type === "STATE_SNAPSHOT";
}
