import type { Command, CommandAck } from "../commands/command.js";
import type { RequestFailure } from "../connection/connection-state.js";
import type {
  AgentInfo,
  AgentService,
  FollowedThread,
  LogEntryText,
  RequestContext,
  StreamEnd,
  ThreadName,
} from "../transport/agent-service.js";
import type { AgentEvent, AgUiFrame } from "../wire/agent-event.js";
import { textsOf } from "./texts-of.js";

/** One thread of one stream. */
export interface FakeConnection {
  readonly thread: ThreadName;
  readonly view: FollowedThread["view"];
  readonly cursor: string | undefined;
  /** Which stream carries it, from 0. */
  readonly stream: number;
  readonly isCut: boolean;
  /** Frames as they would come, each under the id it is given. */
  tell(...frames: readonly (AgentEvent | readonly [id: string, event: AgentEvent])[]): void;
  tellEntries(...entries: readonly LogEntryText[]): void;
  /** Ends this thread's subscription alone. */
  refuse(failure: Extract<RequestFailure, { kind: "refused" }>): void;
  /** Ends the whole stream. */
  end(end?: StreamEnd): void;
}

export interface FakeSend {
  readonly thread: ThreadName;
  readonly command: Exclude<Command, { kind: "stop" }>;
  readonly circumstances: RequestContext;
  answer(answer: CommandAck): void;
}

/** A service whose every word is the test's. */
export function createFakeService() {
  const connections: FakeConnection[] = [];
  const sends: FakeSend[] = [];
  const stops: (string | undefined)[] = [];
  const polls: {
    readonly thread: ThreadName;
    readonly cursor: string | undefined;
    answer(frames: readonly AgUiFrame[] | undefined): void;
  }[] = [];
  let streams = 0;
  let agents: readonly AgentInfo[] = [];
  const service: AgentService = {
    agents: async () => agents,
    follow(threads, signal, sink) {
      const stream = streams;
      streams += 1;
      return new Promise((resolve) => {
        for (const [at, { view, cursor, ...thread }] of threads.entries()) {
          connections.push({
            thread,
            view,
            cursor,
            stream,
            get isCut() {
              return signal.aborted;
            },
            tell(...told) {
              const frames = told.map((one) =>
                "type" in one ? { event: one } : { id: one[0], event: one[1] },
              );
              sink.received();
              sink.events(at, textsOf(frames));
            },
            tellEntries(...entries) {
              sink.received();
              sink.events(at, entries);
            },
            refuse: (failure) => sink.ended(at, failure),
            end: (end = { kind: "ended" }) => resolve(end),
          });
        }
        signal.addEventListener("abort", () => resolve({ kind: "failed", failure: { kind: "network" } }));
        sink.opened();
      });
    },
    send: (thread, command, circumstances) =>
      new Promise((answer) => sends.push({ thread, command, circumstances, answer })),
    async stop(_, runId) {
      stops.push(runId);
      return true;
    },
    poll: (thread, cursor) =>
      new Promise((answer) => {
        polls.push({ thread, cursor, answer: (frames) => answer(frames && textsOf(frames)) });
      }),
    renew: async () => true,
  };
  return {
    service,
    connections,
    sends,
    stops,
    polls,
    offer(infos: readonly AgentInfo[]) {
      agents = infos;
    },
    /** How many streams were asked for. */
    streams: () => streams,
    /** Those that were not cut. */
    open: () => connections.filter(({ isCut }) => !isCut),
  };
}

/** The frames of an idle, empty thread. */
export function emptyPrelude(id: string): readonly (AgentEvent | readonly [string, AgentEvent])[] {
  return [
    started("throughline:empty"),
    { type: "STATE_SNAPSHOT", snapshot: {} },
    { type: "MESSAGES_SNAPSHOT", messages: [] },
    [id, finished("throughline:empty")],
  ];
}

export function started(runId: string, ...messages: readonly string[]): AgentEvent {
  return {
    type: "RUN_STARTED",
    threadId: "t",
    runId,
    metadata: { throughline: { runId: `service:${runId}`, attempt: 0 } },
    ...(messages.length > 0 && {
      input: { messages: messages.map((id) => ({ id, role: "user", content: "hello" })) },
    }),
  };
}

export function finished(runId: string): AgentEvent {
  return {
    type: "RUN_FINISHED",
    threadId: "t",
    runId,
    outcome: { type: "success" },
    metadata: { throughline: { runId: `service:${runId}`, status: "success" } },
  };
}

/** A scheduler of frames that draws when the test says so. */
export function createFakeFrames() {
  let waiting: (() => void)[] = [];
  return {
    schedule(callback: () => void) {
      waiting.push(callback);
      return () => {
        waiting = waiting.filter((one) => one !== callback);
      };
    },
    draw() {
      const due = waiting;
      waiting = [];
      for (const callback of due) callback();
    },
  };
}

/** Lets everything happen that waits for nothing but its turn. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}
