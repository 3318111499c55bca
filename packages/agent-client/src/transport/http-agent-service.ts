import { systemClock } from "../client/environment.js";
import type { Command, CommandAck, RunInput } from "../commands/command.js";
import { newId } from "../commands/mutation-ids.js";
import { isRetryable, type RequestFailure } from "../connection/connection-state.js";
import type { ThreadMessage } from "../projection/thread-view.js";
import { type AgentEvent, type AgUiFrame, factsOf } from "../wire/agent-event.js";
import type {
  AgentInfo,
  AgentService,
  FollowedThread,
  FollowSink,
  RequestContext,
  StreamEnd,
  ThreadName,
} from "./agent-service.js";
import { readEventStream, type SseText, type StreamEvent } from "./event-stream.js";
import {
  createRequest,
  DEFAULT_TIMEOUT_MS,
  failureOf,
  type HttpOptions,
  requestJson,
  type SendRequest,
} from "./http.js";

export interface HttpServiceOptions extends HttpOptions {
  /** The base URL of the CopilotKit routes, such as `/api/copilotkit`. */
  readonly url: string;
  /** Sends attachments as links, valid for an hour without sign-in, for a program that sends no headers with a fetch. */
  readonly links?: boolean;
}

/** Options of every stream: AG-UI 1.0, interrupts in their standard form, and the tree of calls. */
const ALWAYS = { calls: true, interrupts: "standard" } as const;

export function createHttpService(options: HttpServiceOptions): AgentService {
  const format = { ...ALWAYS, links: options.links };
  const request = createRequest(options.url, options);
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;

  function agentPath({ agentId }: ThreadName, verb: string): string {
    return `/agent/${encodeURIComponent(agentId)}/${verb}`;
  }

  /** Sends one request and reads its response until the result is known. `undefined`: it is not known. */
  async function requestOnce<T>(
    path: string,
    body: object,
    read: (events: readonly SseText[]) => T | undefined,
    refuse: (failure: RequestFailure) => T,
    cursor?: string,
  ): Promise<T | undefined> {
    const cut = new AbortController();
    const timer = setTimeout(() => cut.abort(), timeoutMs);
    let result: T | undefined;
    async function readResponse(): Promise<void> {
      const response = await request(path, {
        body: JSON.stringify(body),
        headers: cursor === undefined ? undefined : { "last-event-id": cursor },
        signal: cut.signal,
      });
      const failure = await failureOf(response);
      if (failure) result = refuse(failure);
      else if (response.body)
        await readEventStream(response.body, {
          received() {},
          events(events) {
            result ??= read(events);
            if (result !== undefined) cut.abort();
          },
        });
    }
    try {
      // Node 20 may leave a read pending for ever once its body was aborted: with the result known, do not wait for it.
      await Promise.race([
        readResponse(),
        new Promise((resolve) => cut.signal.addEventListener("abort", resolve)),
      ]);
    } catch {
      // Aborted here, or broken: either way a known result counts.
    } finally {
      clearTimeout(timer);
      cut.abort();
    }
    return result;
  }

  return {
    agents: () => requestJson(request, "/info", { signal: AbortSignal.timeout(timeoutMs) }, readAgents),

    follow: (threads, signal, sink) => followOn(request, format, threads, signal, sink),

    async send(thread, command, circumstances): Promise<CommandAck> {
      const props = { ...format, ...propsOf(command) };
      const ack = await requestOnce(
        agentPath(thread, "run"),
        inputOf(thread, command.id, command.input, circumstances, props),
        (events) => ackOf(readFrames(events)),
        (failure): CommandAck =>
          failure.kind === "network" || isRetryable(failure.status)
            ? { kind: "unreachable" }
            : failure.code === "busy"
              ? { kind: "busy", runId: undefined, retryAfterMs: undefined }
              : { kind: "refused", code: failure.code, message: failure.message },
      );
      return ack ?? { kind: "unreachable" };
    },

    async stop(thread, runId) {
      const response = request(`${agentPath(thread, "stop")}/${encodeURIComponent(thread.threadId)}`, {
        body: JSON.stringify({ runId, visibility: thread.visibility }),
        signal: AbortSignal.timeout(timeoutMs),
      });
      return response.then(
        ({ ok }) => ok,
        () => false,
      );
    },

    async poll(thread, cursor) {
      const props = { interrupts: ALWAYS.interrupts, command: { name: "poll" } };
      const seen: SseText[] = [];
      return requestOnce(
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

    // Every request reads the credentials again; a retry is only useful if a token source is set.
    renew: async () => options.headers !== undefined,
  };
}

// Fields that are `undefined` are not sent: JSON omits them.

/** The forwarded props of a command. */
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
  { tools, context }: RequestContext,
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

function toWireMessage({ id, role, content, toolCallId, failed }: ThreadMessage): object {
  return {
    id,
    role,
    content,
    toolCallId,
    ...(failed && { error: typeof content === "string" ? content : "failed" }),
  };
}

/** Returns the ack by the first decisive frame: a run that began, or the reason why none did. */
function ackOf(frames: readonly AgUiFrame[]): CommandAck | undefined {
  const refusal = frames.find(({ event }) => event.type === "RUN_ERROR")?.event;
  if (refusal?.type === "RUN_ERROR" && factsOf(refusal).runId === undefined) {
    const { code = "internal", message } = refusal;
    const { details } = factsOf(refusal);
    if (code === "busy") return { kind: "busy", runId: details?.runId, retryAfterMs: details?.retryAfterMs };
    if (code === "shutting_down" || code === "upstream_unavailable") return { kind: "unreachable" };
    return { kind: "refused", code, message };
  }
  // A refusal is a run too, but without the service's own id: only a run that really began has one.
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

/** The used part of CopilotKit's `/info`. */
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
  // A parsed boundary: the service's own response.
  const { agents = {} } = info as Info;
  return Object.entries(agents).map(([agentId, agent]) => ({
    agentId,
    name: agent.name ?? agentId,
    description: agent.description ?? "",
    commands: agent.capabilities?.custom?.commands ?? [],
  }));
}

type Refusal = Extract<RequestFailure, { kind: "refused" }>;

/** Follows threads by `POST /follow`, section 10 of the protocol. */
async function followOn(
  request: SendRequest,
  format: object,
  threads: readonly FollowedThread[],
  signal: AbortSignal,
  sink: FollowSink,
): Promise<StreamEnd> {
  try {
    const response = await request("/follow", {
      body: JSON.stringify({ ...format, subscriptions: threads }),
      signal,
    });
    const failure = await failureOf(response);
    if (failure) return { kind: "failed", failure };
    if (response.body) {
      sink.opened();
      await readEventStream(response.body, {
        received: sink.received,
        events: (events) => deliver(events, sink),
      });
      return { kind: "ended" };
    }
  } catch {
    // Not reachable, or the connection broke.
  }
  return { kind: "failed", failure: { kind: "network" } };
}

/** Delivers the events of one read by thread, so that events that arrive together are shown together. */
function deliver(events: readonly StreamEvent[], sink: FollowSink): void {
  for (let from = 0; from < events.length; ) {
    const name = events[from]?.event;
    let to = from + 1;
    while (to < events.length && events[to]?.event === name) to += 1;
    const same = from === 0 && to === events.length ? events : events.slice(from, to);
    from = to;
    if (name === "end") for (const { data } of same) reportEnd(data, sink);
    else sink.events(Number(name), same);
  }
}

function reportEnd(data: string, sink: FollowSink): void {
  // A parsed boundary: the service's own message.
  const { subscription, details, ...refusal } = JSON.parse(data) as Omit<Refusal, "kind"> & {
    readonly subscription: number;
    readonly details?: Pick<Refusal, "retryAfterMs">;
  };
  sink.ended(subscription, { kind: "refused", ...refusal, ...details });
}

/** Parses the frames of one batch of events. */
export function readFrames(events: readonly SseText[]): readonly AgUiFrame[] {
  const frames: AgUiFrame[] = [];
  for (const { id, data } of events) {
    const event = parseEvent(data);
    if (event) frames.push({ id, event });
  }
  return frames;
}

/** Parses an event. Only its type is checked, since the service alone sends frames. */
function parseEvent(data: string): AgentEvent | undefined {
  try {
    const event: AgentEvent | null = JSON.parse(data);
    return typeof event?.type === "string" ? event : undefined;
  } catch {
    return undefined;
  }
}
