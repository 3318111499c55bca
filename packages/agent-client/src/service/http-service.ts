import { newId } from "../client/new-id.js";
import { systemClock } from "../client/system-clock.js";
import type { Answer, Command, RunInput } from "../commands/command.js";
import { isPassing, type StreamFailure } from "../connection/connection.js";
import type { MessageView } from "../projection/thread-view.js";
import { type AgentEvent, type AgentFrame, factsOf } from "../wire/agent-event.js";
import type { EventText } from "../wire/event-parser.js";
import { readEventStream } from "../wire/read-event-stream.js";
import { readFrames } from "../wire/read-frames.js";
import { followOn } from "./follow-on.js";
import { askJson, createRequest, DEFAULT_TIMEOUT_MS, failureOf, type HttpOptions } from "./http-request.js";
import type { AgentInfo, Circumstances, ServicePort, ThreadName } from "./service-port.js";

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
