import { randomUUID } from "node:crypto";
import type {
  AgentCommand,
  ContextItem,
  Dialect,
  Fence,
  FrontendTool,
  GraphFinal,
  GraphRunRequest,
  GraphRunStart,
  GraphThread,
  Json,
  Message,
  RunConfig,
  UpstreamChunk,
} from "@throughline/ai-core";
import { toGraphId } from "@throughline/ai-core";
import type { GraphProvider } from "../provider.js";

export interface ExecutorUnderTest {
  readonly provider: GraphProvider;
  readonly close?: () => Promise<void>;
}

export interface RunOptions {
  readonly runId?: string;
  readonly attempt?: number;
  readonly signal?: AbortSignal;
  readonly tools?: readonly FrontendTool[];
  readonly context?: readonly ContextItem[];
  readonly command?: AgentCommand;
  readonly config?: RunConfig;
  /** `null`: none. */
  readonly model?: string | null;
  readonly dialect?: Dialect;
  readonly fence?: Fence;
  /** Called with each chunk before the next is asked for; `"leave"` leaves the stream. */
  readonly onChunk?: (chunk: UpstreamChunk) => unknown;
}

export interface RanRun {
  readonly runId: string;
  readonly chunks: readonly UpstreamChunk[];
  readonly final: GraphFinal;
}

/** One thread of one graph, and a person who talks to it. */
export interface ThreadSession {
  readonly thread: GraphThread;
  run(start: GraphRunStart, options?: RunOptions): Promise<RanRun>;
  say(text: string, options?: RunOptions): Promise<RanRun>;
  answer(answers: Readonly<Record<string, Json>>, options?: RunOptions): Promise<RanRun>;
  /** The same thread, on another executor. */
  on(provider: GraphProvider): ThreadSession;
}

export function userMessage(text: string): Message {
  return { id: randomUUID(), role: "user", content: text };
}

export function openThread(
  provider: GraphProvider,
  graphName: string,
  threadId: string = randomUUID(),
): ThreadSession {
  const graphId = toGraphId(graphName);

  async function run(start: GraphRunStart, options: RunOptions = {}): Promise<RanRun> {
    const request: GraphRunRequest = {
      runId: options.runId ?? randomUUID(),
      attempt: options.attempt ?? 0,
      ingressRequestId: randomUUID(),
      caller: { billingAccountId: "acme", virtualKeyId: "key-1", traceId: "trace-1" },
      graphId,
      threadId,
      stateKey: `${graphName}/behaviour`,
      ...(options.model !== null && { model: options.model ?? "default" }),
      config: options.config,
      start,
      tools: options.tools ?? [],
      context: options.context ?? [],
      command: options.command,
      profile: "debug",
      dialect: options.dialect,
      signal: options.signal ?? new AbortController().signal,
      ...(options.fence && { fence: options.fence }),
    };
    const { stream, final } = provider.runGraph(request);
    const chunks: UpstreamChunk[] = [];
    for await (const chunk of stream) {
      chunks.push(chunk);
      if (options.onChunk?.(chunk) === "leave") break;
    }
    return { runId: request.runId, chunks, final: await final };
  }

  return {
    thread: { graphId, threadId },
    run,
    say: (text, options) => run({ kind: "input", messages: [userMessage(text)] }, options),
    answer: (answers, options) => run({ kind: "resume", answers }, options),
    on: (other) => openThread(other, graphName, threadId),
  };
}
