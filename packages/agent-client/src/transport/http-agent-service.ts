import { systemClock } from "../client/environment.js";
import type { Answer, Command, RunInput } from "../commands/command.js";
import { newId } from "../commands/mutation-ids.js";
import { isPassing, type StreamFailure } from "../connection/connection-state.js";
import type { MessageView } from "../projection/thread-view.js";
import { type AgentEvent, type AgentFrame, factsOf } from "../wire/agent-event.js";
import type {
  AgentInfo,
  Circumstances,
  FollowedThread,
  FollowSink,
  ServicePort,
  StreamEnd,
  ThreadName,
} from "./agent-service.js";
import { type EventText, readEventStream, type StreamEvent } from "./event-stream.js";
import {
  type AskService,
  askJson,
  createRequest,
  DEFAULT_TIMEOUT_MS,
  failureOf,
  type HttpOptions,
} from "./http.js";

export interface HttpServiceOptions extends HttpOptions {
  /** Where the CopilotKit routes lie, `/api/copilotkit` for one. */
  readonly url: string;
  /** Attachments come as links, each of which can be fetched for an hour without signing in, for a program that sends no headers when it fetches. */
  readonly links?: boolean;
}

/** What every stream asks for: AG-UI 1.0, questions in their standard form, and the tree of calls. */
const ALWAYS = { calls: true, interrupts: "standard" } as const;

export function createHttpService(options: HttpServiceOptions): ServicePort {
  const face = { ...ALWAYS, links: options.links };
  const request = createRequest(options.url, options);
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;

  function agentPath({ agentId }: ThreadName, verb: string): string {
    return `/agent/${encodeURIComponent(agentId)}/${verb}`;
  }

  /** The answer to one request, read until it is known. `undefined`: it is not known. */
  async function askOnce<T>(
    path: string,
    body: object,
    read: (events: readonly EventText[]) => T | undefined,
    refuse: (failure: StreamFailure) => T,
    cursor?: string,
  ): Promise<T | undefined> {
    const cut = new AbortController();
    const timer = setTimeout(() => cut.abort(), timeoutMs);
    let answer: T | undefined;
    async function ask(): Promise<void> {
      const response = await request(path, {
        body: JSON.stringify(body),
        headers: cursor === undefined ? undefined : { "last-event-id": cursor },
        signal: cut.signal,
      });
      const failure = await failureOf(response);
      if (failure) answer = refuse(failure);
      else if (response.body)
        await readEventStream(response.body, {
          heard() {},
          events(events) {
            answer ??= read(events);
            if (answer !== undefined) cut.abort();
          },
        });
    }
    try {
      // Node 20 may leave a read pending for ever once its body was cut: with the answer known, do not wait for that.
      await Promise.race([ask(), new Promise((resolve) => cut.signal.addEventListener("abort", resolve))]);
    } catch {
      // Cut by ourselves, or broken: either way what is known is known.
    } finally {
      clearTimeout(timer);
      cut.abort();
    }
    return answer;
  }

  return {
    agents: () => askJson(request, "/info", { signal: AbortSignal.timeout(timeoutMs) }, readAgents),

    follow: (threads, signal, sink) => followOn(request, face, threads, signal, sink),

    async send(thread, command, circumstances): Promise<Answer> {
      const props = { ...face, ...propsOf(command) };
      const answer = await askOnce(
        agentPath(thread, "run"),
        inputOf(thread, command.id, command.input, circumstances, props),
        (events) => answerOf(readFrames(events)),
        (failure): Answer =>
          failure.kind === "network" || isPassing(failure.status)
            ? { kind: "unreachable" }
            : failure.code === "busy"
              ? { kind: "busy", runId: undefined, retryAfterMs: undefined }
              : { kind: "refused", code: failure.code, message: failure.message },
      );
      return answer ?? { kind: "unreachable" };
    },

    async stop(thread, runId) {
      const asked = request(`${agentPath(thread, "stop")}/${encodeURIComponent(thread.threadId)}`, {
        body: JSON.stringify({ runId, visibility: thread.visibility }),
        signal: AbortSignal.timeout(timeoutMs),
      });
      return asked.then(
        ({ ok }) => ok,
        () => false,
      );
    },

    async poll(thread, cursor) {
      const props = { interrupts: ALWAYS.interrupts, command: { name: "poll" } };
      const seen: EventText[] = [];
      return askOnce(
        agentPath(thread, "run"),
        inputOf(thread, newId(systemClock.now()), {}, { tools: [], context: [] }, props),
        (events) => {
          seen.push(...events);
          return readFrames(events).at(-1)?.event.type === "RUN_FINISHED" ? seen : undefined;
        },
        () => undefined,
        cursor,
      );
    },

    // Every request asks for credentials anew; there is only something to try if a token source is set.
    renew: async () => options.headers !== undefined,
  };
}

// What these hold as `undefined` is not sent: JSON has no word for it.

/** The command as the service takes it. */
function propsOf({ id, kind, input }: Exclude<Command, { kind: "stop" }>): object {
  const { fork, model, config, command } = input;
  return {
    strategy: kind === "fire" ? "preempt" : undefined,
    command: kind === "sync" ? { name: "sync", ...command, clientMutationId: id } : command,
    fork,
    model,
    config,
  };
}

function inputOf(
  { threadId, visibility }: ThreadName,
  runId: string,
  { messages = [], state = {}, answers }: RunInput,
  { tools, context }: Circumstances,
  props: object,
): object {
  return {
    threadId,
    runId,
    protocolVersion: "1.0",
    state,
    messages: messages.map(toWireMessage),
    tools,
    context,
    forwardedProps: { throughline: { visibility, ...props } },
    resume:
      answers &&
      Object.entries(answers).map(([interruptId, payload]) => ({ interruptId, status: "resolved", payload })),
  };
}

function toWireMessage({ id, role, content, toolCallId, failed }: MessageView): object {
  return {
    id,
    role,
    content,
    toolCallId,
    ...(failed && { error: typeof content === "string" ? content : "failed" }),
  };
}

/** The first word that decides: a run that began, or why none did. */
function answerOf(frames: readonly AgentFrame[]): Answer | undefined {
  const refusal = frames.find(({ event }) => event.type === "RUN_ERROR")?.event;
  if (refusal?.type === "RUN_ERROR" && factsOf(refusal).runId === undefined) {
    const { code = "internal", message } = refusal;
    const { details } = factsOf(refusal);
    if (code === "busy") return { kind: "busy", runId: details?.runId, retryAfterMs: details?.retryAfterMs };
    if (code === "shutting_down" || code === "upstream_unavailable") return { kind: "unreachable" };
    return { kind: "refused", code, message };
  }
  // A refusal is a run too, one without the service's own name for it: what really began carries that.
  for (const { event } of frames) {
    const { runId } = factsOf(event);
    if (runId === undefined) continue;
    const isCancelled = frames.some(({ event: later }) => isCancel(later, runId));
    return { kind: "accepted", serviceRunId: runId, ...(isCancelled && { isCancelled }) };
  }
  return undefined;
}

function isCancel(event: AgentEvent, runId: string): boolean {
  const isEnd = event.type === "RUN_FINISHED" && event.outcome?.type === "cancelled";
  return isEnd && factsOf(event).runId === runId;
}

/** CopilotKit's `/info`, as far as it is ours. */
interface Info {
  readonly agents?: Readonly<
    Record<
      string,
      {
        readonly name?: string;
        readonly description?: string;
        readonly capabilities?: { readonly custom?: { readonly commands?: readonly string[] } };
      }
    >
  >;
}

function readAgents(info: unknown): readonly AgentInfo[] {
  // A parsed boundary: the service's own answer.
  const { agents = {} } = info as Info;
  return Object.entries(agents).map(([agentId, agent]) => ({
    agentId,
    name: agent.name ?? agentId,
    description: agent.description ?? "",
    commands: agent.capabilities?.custom?.commands ?? [],
  }));
}

type Refusal = Extract<StreamFailure, { kind: "refused" }>;

/** Follows threads by `POST /follow`, section 10 of the protocol. */
async function followOn(
  request: AskService,
  face: object,
  threads: readonly FollowedThread[],
  signal: AbortSignal,
  sink: FollowSink,
): Promise<StreamEnd> {
  try {
    const response = await request("/follow", {
      body: JSON.stringify({ ...face, subscriptions: threads }),
      signal,
    });
    const failure = await failureOf(response);
    if (failure) return { kind: "failed", failure };
    if (response.body) {
      sink.opened();
      await readEventStream(response.body, {
        heard: sink.heard,
        events: (events) => tell(events, sink),
      });
      return { kind: "ended" };
    }
  } catch {
    // Never reached, or broken off.
  }
  return { kind: "failed", failure: { kind: "network" } };
}

/** Events of one read, by the thread they are of: what comes together is shown together. */
function tell(events: readonly StreamEvent[], sink: FollowSink): void {
  for (let from = 0; from < events.length; ) {
    const name = events[from]?.event;
    let to = from + 1;
    while (to < events.length && events[to]?.event === name) to += 1;
    const same = from === 0 && to === events.length ? events : events.slice(from, to);
    from = to;
    if (name === "end") for (const { data } of same) tellEnd(data, sink);
    else sink.events(Number(name), same);
  }
}

function tellEnd(data: string, sink: FollowSink): void {
  // A parsed boundary: the service's own word.
  const { subscription, details, ...refusal } = JSON.parse(data) as Omit<Refusal, "kind"> & {
    readonly subscription: number;
    readonly details?: Pick<Refusal, "retryAfterMs">;
  };
  sink.ended(subscription, { kind: "refused", ...refusal, ...details });
}

/** Frames of events that came together. */
export function readFrames(events: readonly EventText[]): readonly AgentFrame[] {
  const frames: AgentFrame[] = [];
  for (const { id, data } of events) {
    const event = parseEvent(data);
    if (event) frames.push({ id, event });
  }
  return frames;
}

/** Checks the type alone: only frames of the service come here. */
function parseEvent(data: string): AgentEvent | undefined {
  try {
    const event: AgentEvent | null = JSON.parse(data);
    return typeof event?.type === "string" ? event : undefined;
  } catch {
    return undefined;
  }
}
