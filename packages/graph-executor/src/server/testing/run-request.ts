import { randomUUID } from "node:crypto";
import type { GraphFinal, GraphRunRequest, GraphRunResult, UpstreamChunk } from "@throughline/ai-core";

/** A request like a driver's, on a thread of its own unless told otherwise. */
export function runRequest(
  changes: Partial<GraphRunRequest> & { readonly text?: string } = {},
): GraphRunRequest {
  const { text = "A poem about the sea", ...rest } = changes;
  return {
    runId: randomUUID(),
    attempt: 0,
    ingressRequestId: "ingress-1",
    caller: { billingAccountId: "acme", virtualKeyId: "key-1", traceId: "trace-1" },
    graphId: "langgraph:poet",
    threadId: randomUUID(),
    stateKey: "poet/one",
    model: "default",
    start: { kind: "input", messages: [{ id: randomUUID(), role: "user", content: text }] },
    tools: [],
    context: [],
    profile: "user",
    signal: new AbortController().signal,
    ...rest,
  };
}

export async function readToEnd(
  result: GraphRunResult,
  onChunk: (chunk: UpstreamChunk, position: number) => void = () => {},
): Promise<{ readonly chunks: readonly UpstreamChunk[]; readonly final: GraphFinal }> {
  const chunks: UpstreamChunk[] = [];
  for await (const chunk of result.stream) {
    chunks.push(chunk);
    onChunk(chunk, chunks.length);
  }
  return { chunks, final: await result.final };
}

/** What the model wrote, put together from its tokens. */
export function textOf(chunks: readonly UpstreamChunk[]): string {
  let text = "";
  for (const { mode, data } of chunks) {
    const message: unknown = mode === "messages" && Array.isArray(data) ? data[0] : undefined;
    const content = typeof message === "object" && message && "content" in message ? message.content : "";
    if (typeof content === "string") text += content;
  }
  return text;
}
