import type { Clock, Json, JsonObject } from "@throughline/ai-core";
import type { PendingCommands } from "../commands/agent-command-scheduler.js";
import type { BusyPolicy, Command, CommandOutcome, RunInput } from "../commands/command.js";
import { newId } from "../commands/mutation-ids.js";
import type { ConnectionStatus } from "../connection/connection-state.js";
import type { LogReader } from "../connection/thread-stream.js";
import { type MessageView, messageById, type ThreadView } from "../projection/thread-view.js";
import type { ThreadName } from "../transport/agent-service.js";
import type { AgentFrame } from "../wire/agent-event.js";
import { createNotifier, type FrameScheduler, keepSame, type Notifier, once, type Store } from "./store.js";
import type { ShownInput, ThreadLine } from "./thread-controller.js";

export interface ThreadSnapshot {
  readonly view: ThreadView;
  readonly connection: ConnectionStatus;
  readonly pending: PendingCommands;
}

/** A frame as it came, and when. */
export interface LoggedFrame extends AgentFrame {
  readonly at: number;
}

/** A command on its way. Its run's id is known before its outcome: the run shows under it as `view.run.runId`. */
export type SubmittedCommand = Promise<CommandOutcome> & { readonly runId: string };

/** One thread of one agent, for a page. Commands never reject: how they came out is their value. */
export interface ThreadHandle extends Store<ThreadSnapshot>, ThreadName {
  /** Keeps the thread's connection open until what it returns is called. */
  open(): () => void;
  /** The newest frames, for inspectors. */
  readonly events: Store<readonly LoggedFrame[]>;
  /** Every frame as it comes, in order: for a program that prints and draws nothing. */
  frames(listener: (frames: readonly AgentFrame[]) => void): () => void;
  /** The thread's log itself, from its beginning or behind what the reader holds, until what it returns is called. */
  readLog(reader: LogReader): () => void;
  /** A message of the person, shown at once. */
  send(content: string | readonly JsonObject[], policy?: BusyPolicy): SubmittedCommand;
  run(input: RunInput, policy?: BusyPolicy): SubmittedCommand;
  /** One of the agent's own commands. */
  command(name: string, args?: JsonObject, policy?: BusyPolicy): SubmittedCommand;
  /** The latest wish for the agent's state counts. Done when the agent says that it has it. */
  sync(state: JsonObject): SubmittedCommand;
  /** Stops what runs, then runs: without an input, the agent's command `fire`. */
  fire(input?: RunInput): SubmittedCommand;
  stop(): Promise<CommandOutcome>;
  answer(interruptId: string, value: Json): SubmittedCommand;
  /** Answers to several questions at once: an agent that asked them together waits for all. */
  answerAll(answers: Readonly<Record<string, Json>>): SubmittedCommand;
  /** Takes an answer back that made the run fail: the agent asks anew. Past a breakpoint, the agent goes on. */
  askAgain(): SubmittedCommand;
  /** A message that was refused, once more. */
  resend(messageId: string): Promise<CommandOutcome>;
  /** Gives up a message that was refused, or a run that waits for its turn: by its id, or that of a message in it. */
  discard(id: string): void;
  /** Connects now instead of when it is due, and again after a refusal. Does nothing while no page is open. */
  reconnect(): void;
}

export interface ThreadHandleOptions extends ThreadName {
  /** Made when it is asked for: a thread without a page is let go of. */
  readonly line: () => ThreadLine;
  readonly clock: Clock;
  readonly schedule: FrameScheduler;
  readonly open: () => () => void;
  readonly readLog: (reader: LogReader) => () => void;
  /** Keeps the thread until what it returns is called. */
  readonly retain: () => () => void;
}

/** The handle, and how its line tells it of changes. */
export interface ThreadHandleParts {
  readonly handle: ThreadHandle;
  changed(): void;
  shown(input: ShownInput): void;
  /** The thread was let go of: nothing of it is held here. */
  forget(): void;
  close(): void;
}

const MAX_LOGGED = 1_000;
const REJECT: BusyPolicy = { kind: "reject" };

export function createThreadHandle(options: ThreadHandleOptions): ThreadHandleParts {
  const { clock, agentId, threadId, visibility } = options;
  let snapshot: ThreadSnapshot | undefined;
  let log: LoggedFrame[] = [];
  let logSnapshot: readonly LoggedFrame[] | undefined = [];
  let listeners = 0;
  const readers = new Set<(frames: readonly AgentFrame[]) => void>();
  const views = createNotifier(options.schedule, () => {
    snapshot = takeSnapshot(snapshot);
  });
  const logs = createNotifier(options.schedule, () => {
    // Copied when it is read, which is rare.
    logSnapshot = undefined;
  });

  function takeSnapshot(before: ThreadSnapshot | undefined): ThreadSnapshot {
    const line = options.line();
    const view = line.view();
    const connection = line.status();
    const pending = line.pending();
    return keepSame(before, { view, connection, pending });
  }

  function ids(): { readonly id: string } {
    return { id: newId(clock.now()) };
  }

  function submit(command: Command): SubmittedCommand {
    return Object.assign(options.line().submit(command), { runId: command.id });
  }

  function run(input: RunInput, busy: BusyPolicy = REJECT): SubmittedCommand {
    return submit({ kind: "run", ...ids(), input, busy });
  }

  /** Listens, and keeps the thread for as long as that. */
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
      if (listeners === 0 || !snapshot) snapshot = takeSnapshot(snapshot);
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
      const own = (frames: readonly AgentFrame[]) => listener(frames);
      readers.add(own);
      return () => {
        if (readers.delete(own)) release();
      };
    },
    send: (content, policy) => run({ messages: [{ ...ids(), role: "user", content }] }, policy),
    run,
    command: (name, args, policy) => run({ command: { name, ...(args && { args }) } }, policy),
    sync(state) {
      // Later than the newest that the thread knows, whatever this machine's clock says.
      const { lastAppliedClientMutationId: applied } = options.line().view().state;
      const id = newId(clock.now(), typeof applied === "string" ? applied : undefined);
      return submit({ kind: "sync", id, input: { state } });
    },
    fire: (input = { command: { name: "fire" } }) => submit({ kind: "fire", ...ids(), input }),
    stop: () => options.line().submit({ kind: "stop", ...ids() }),
    answer: (interruptId, value) => run({ answers: { [interruptId]: value } }),
    answerAll: (answers) => run({ answers }),
    askAgain: () => run({ command: { name: "ask_again" } }),
    resend(messageId) {
      const message = messageById(options.line().view(), messageId);
      if (message?.local !== "unsent") {
        return Promise.resolve({
          kind: "refused",
          code: "not_found",
          message: "There is no such unsent message.",
        });
      }
      const { local: _local, ...again } = message;
      return run({ messages: [again satisfies MessageView] });
    },
    discard: (id) => options.line().discard(id),
    reconnect: () => options.line().reconnect(),
  };

  return {
    handle,
    changed: () => views.changed(),
    shown(input) {
      if (input.kind !== "frames") return;
      for (const read of [...readers]) read(input.frames);
      const at = clock.now();
      for (const { id, event } of input.frames) log.push({ id, event, at });
      // Cut now and then, not with every frame.
      if (log.length > 2 * MAX_LOGGED) log = log.slice(-MAX_LOGGED);
      if (logs.isHeard()) logs.changed();
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
