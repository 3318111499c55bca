import type { Clock, Json, JsonObject } from "@throughline/ai-core";
import type { PendingCommands } from "../commands/agent-command-scheduler.js";
import type { BusyPolicy, Command, CommandOutcome, RunInput } from "../commands/command.js";
import { newId } from "../commands/mutation-ids.js";
import type { ConnectionStatus } from "../connection/connection-state.js";
import type { LogReader } from "../connection/thread-stream.js";
import { messageById, type ThreadMessage, type ThreadView } from "../projection/thread-view.js";
import type { ThreadName } from "../transport/agent-service.js";
import type { AgUiFrame } from "../wire/agent-event.js";
import {
  createNotifier,
  type FrameScheduler,
  type Notifier,
  once,
  retainIdentity,
  type Store,
} from "./store.js";
import type { ShownInput, ThreadController } from "./thread-controller.js";

export interface ThreadSnapshot {
  readonly view: ThreadView;
  readonly connection: ConnectionStatus;
  readonly pending: PendingCommands;
}

/** A received frame with its time. */
export interface RecordedFrame extends AgUiFrame {
  readonly at: number;
}

/** A submitted command. Its run's id is known before its outcome: it is the `view.run.runId` of the run. */
export type SubmittedCommand = Promise<CommandOutcome> & { readonly runId: string };

/** The interface of a page to one thread of one agent. Commands never reject: they resolve with their outcome. */
export interface ThreadHandle extends Store<ThreadSnapshot>, ThreadName {
  /** Opens the thread's connection. Returns a function that closes it. */
  open(): () => void;
  /** The newest frames, for inspectors. */
  readonly events: Store<readonly RecordedFrame[]>;
  /** Calls back with every frame on arrival, in order: for a program that prints and draws nothing. */
  frames(listener: (frames: readonly AgUiFrame[]) => void): () => void;
  /** Reads the thread's log from its beginning, or from the reader's cursor. Returns a function that stops reading. */
  readLog(reader: LogReader): () => void;
  /** Sends a user message, which is shown at once. */
  send(content: string | readonly JsonObject[], policy?: BusyPolicy): SubmittedCommand;
  run(input: RunInput, policy?: BusyPolicy): SubmittedCommand;
  /** Runs one of the agent's own commands. */
  command(name: string, args?: JsonObject, policy?: BusyPolicy): SubmittedCommand;
  /** Requests a state of the agent; the latest request counts. Confirmed when the agent's state acknowledges it. */
  sync(state: JsonObject): SubmittedCommand;
  /** Stops the active run, then starts one: without an input, the agent's command `fire`. */
  fire(input?: RunInput): SubmittedCommand;
  stop(): Promise<CommandOutcome>;
  answer(interruptId: string, value: Json): SubmittedCommand;
  /** Responds to several interrupts at once: an agent that raised them together waits for all responses. */
  answerAll(answers: Readonly<Record<string, Json>>): SubmittedCommand;
  /** Withdraws a response that made the run fail: the agent raises the interrupt again. After a breakpoint, the agent continues. */
  askAgain(): SubmittedCommand;
  /** Sends a refused message again. */
  resend(messageId: string): Promise<CommandOutcome>;
  /** Discards a refused message or a queued run: by its id, or by that of a message in it. */
  discard(id: string): void;
  /** Connects now instead of after the backoff, also after a refusal. Does nothing while no page is open. */
  reconnect(): void;
}

export interface ThreadHandleOptions extends ThreadName {
  /** Creates the controller on use: a thread without a page is evicted. */
  readonly controller: () => ThreadController;
  readonly clock: Clock;
  readonly schedule: FrameScheduler;
  readonly open: () => () => void;
  readonly readLog: (reader: LogReader) => () => void;
  /** Retains the thread until the returned function is called. */
  readonly retain: () => () => void;
}

/** The handle, and the functions by which the thread registry notifies it. */
export interface ThreadHandleParts {
  readonly handle: ThreadHandle;
  changed(): void;
  shown(input: ShownInput): void;
  /** Drops all data of the thread, which was evicted. */
  forget(): void;
  close(): void;
}

const MAX_LOGGED = 1_000;
const REJECT: BusyPolicy = { kind: "reject" };

export function createThreadHandle(options: ThreadHandleOptions): ThreadHandleParts {
  const { clock, agentId, threadId, visibility } = options;
  let snapshot: ThreadSnapshot | undefined;
  let log: RecordedFrame[] = [];
  let logSnapshot: readonly RecordedFrame[] | undefined = [];
  let listeners = 0;
  const readers = new Set<(frames: readonly AgUiFrame[]) => void>();
  const views = createNotifier(options.schedule, () => {
    snapshot = readSnapshot(snapshot);
  });
  const logs = createNotifier(options.schedule, () => {
    // Copied on read, which is rare.
    logSnapshot = undefined;
  });

  function readSnapshot(before: ThreadSnapshot | undefined): ThreadSnapshot {
    const controller = options.controller();
    const view = controller.view();
    const connection = controller.status();
    const pending = controller.pending();
    return retainIdentity(before, { view, connection, pending });
  }

  function ids(): { readonly id: string } {
    return { id: newId(clock.now()) };
  }

  function submit(command: Command): SubmittedCommand {
    return Object.assign(options.controller().submit(command), { runId: command.id });
  }

  function run(input: RunInput, busy: BusyPolicy = REJECT): SubmittedCommand {
    return submit({ kind: "run", ...ids(), input, busy });
  }

  /** Subscribes, and retains the thread until unsubscribed. */
  function listen(notifier: Notifier, listener: () => void): () => void {
    const release = options.retain();
    const unsubscribe = notifier.subscribe(listener);
    return () => {
      release();
      unsubscribe();
    };
  }

  const handle: ThreadHandle = {
    agentId,
    threadId,
    visibility,
    open: options.open,
    readLog: options.readLog,
    getSnapshot() {
      // Without subscribers, no reader can see two values within one frame.
      if (listeners === 0 || !snapshot) snapshot = readSnapshot(snapshot);
      return snapshot;
    },
    subscribe(listener) {
      const unsubscribe = listen(views, listener);
      listeners += 1;
      return once(() => {
        unsubscribe();
        listeners -= 1;
      });
    },
    events: {
      getSnapshot() {
        logSnapshot ??= log.slice(-MAX_LOGGED);
        return logSnapshot;
      },
      subscribe: (listener) => listen(logs, listener),
    },
    frames(listener) {
      const release = options.retain();
      const own = (frames: readonly AgUiFrame[]) => listener(frames);
      readers.add(own);
      return () => {
        if (readers.delete(own)) release();
      };
    },
    send: (content, policy) => run({ messages: [{ ...ids(), role: "user", content }] }, policy),
    run,
    command: (name, args, policy) => run({ command: { name, ...(args && { args }) } }, policy),
    sync(state) {
      // Later than the newest id that the thread has applied, whatever this machine's clock shows.
      const { lastAppliedClientMutationId: applied } = options.controller().view().state;
      const id = newId(clock.now(), typeof applied === "string" ? applied : undefined);
      return submit({ kind: "sync", id, input: { state } });
    },
    fire: (input = { command: { name: "fire" } }) => submit({ kind: "fire", ...ids(), input }),
    stop: () => options.controller().submit({ kind: "stop", ...ids() }),
    answer: (interruptId, value) => run({ answers: { [interruptId]: value } }),
    answerAll: (answers) => run({ answers }),
    askAgain: () => run({ command: { name: "ask_again" } }),
    resend(messageId) {
      const message = messageById(options.controller().view(), messageId);
      if (message?.local !== "unsent") {
        return Promise.resolve({
          kind: "refused",
          code: "not_found",
          message: "There is no such unsent message.",
        });
      }
      const { local: _local, ...again } = message;
      return run({ messages: [again satisfies ThreadMessage] });
    },
    discard: (id) => options.controller().discard(id),
    reconnect: () => options.controller().reconnect(),
  };

  return {
    handle,
    changed: () => views.changed(),
    shown(input) {
      if (input.kind !== "frames") return;
      for (const read of [...readers]) read(input.frames);
      const at = clock.now();
      for (const { id, event } of input.frames) log.push({ id, event, at });
      // Trimmed in batches, not with every frame.
      if (log.length > 2 * MAX_LOGGED) log = log.slice(-MAX_LOGGED);
      if (logs.hasListeners()) logs.changed();
      else logSnapshot = undefined;
    },
    forget() {
      snapshot = undefined;
      log = [];
      logSnapshot = [];
    },
    close() {
      readers.clear();
      views.close();
      logs.close();
    },
  };
}
