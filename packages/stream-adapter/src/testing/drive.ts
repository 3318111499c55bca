import type { Dialect, Envelope, GraphFinal, Message, UpstreamChunk } from "@throughline/ai-core";
import type { AgUiEncoderOptions, AgUiEvent } from "@throughline/reading";
import { applyEnvelope, emptyThreadProjection, type ThreadProjection } from "@throughline/reading";
import { createStreamAdapter } from "../stream-adapter.js";
import { framesOf, toEntries } from "./recording.js";

export interface DriveOptions {
  readonly fold?: ThreadProjection;
  readonly final?: Partial<GraphFinal>;
  readonly profile?: "user" | "debug";
  readonly dialect?: Dialect;
  readonly runId?: string;
  readonly origin?: "live" | "replay";
  readonly answers?: readonly string[];
  readonly showErrors?: boolean;
}

/** One hand-written run, unsampled and without a checkpoint, so that a test sees what each chunk became. */
export function drive(chunks: readonly UpstreamChunk[], options: DriveOptions = {}): Envelope[] {
  const translator = createStreamAdapter({
    context: {
      runId: options.runId ?? "run-1",
      threadId: "thread",
      traceId: "trace",
      attempt: 0,
      agent: "graph",
      ...(options.origin && { origin: options.origin }),
    },
    dialect: options.dialect ?? "modes",
    profile: options.profile ?? "user",
    sampling: false,
    ...(options.fold && { fold: options.fold }),
    ...(options.showErrors !== undefined && { showErrors: options.showErrors }),
  });
  const start = {
    graph_id: "langgraph:graph",
    input: { messages: [] },
    answers: [...(options.answers ?? [])],
    started_by: { kind: "client" as const },
  };
  const envelopes = [...translator.start(start, 0), ...chunks.flatMap((chunk) => translator.push(chunk, 0))];
  const final = { ok: true, status: "success", interrupts: [], ...options.final } as const;
  const fold = envelopes.reduce(applyEnvelope, options.fold ?? emptyThreadProjection);
  return [...envelopes, ...translator.finish(final, fold, 1)];
}

export function agUi(
  envelopes: readonly Envelope[],
  options: Partial<AgUiEncoderOptions> = {},
  from: ThreadProjection = emptyThreadProjection,
): AgUiEvent[] {
  const face: AgUiEncoderOptions = { threadName: "plan", line: "0.0", interrupts: "legacy", ...options };
  return framesOf(toEntries(envelopes), face, from).map((frame) => frame.event);
}

export const agent = "agent:task-1";

/** A piece of a model's message, as the server sends it. */
export function piece(fields: Readonly<Record<string, unknown>>, path = agent): UpstreamChunk {
  const message = { type: "ai", id: "m1", content: "", tool_call_chunks: [], ...fields };
  return {
    ns: [path],
    mode: "messages",
    data: [message, { langgraph_checkpoint_ns: path, ls_model_type: "chat" }],
  };
}

export function call(index: number, fields: Readonly<Record<string, unknown>>): UpstreamChunk {
  return piece({ tool_call_chunks: [{ index, ...fields }] });
}

export const shown = (messages: readonly Message[]): ThreadProjection => ({
  ...emptyThreadProjection,
  messages,
});
