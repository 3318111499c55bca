import { randomUUID } from "node:crypto";
import type {
  GraphExecutorPort,
  GraphFinal,
  GraphRunRequest,
  JsonObject,
  UpstreamChunk,
} from "@throughline/ai-core";

/** A run of a graph of this suite, which takes its orders from the state. */
export function orderOf(
  graphName: string,
  state: JsonObject,
  changes: Partial<GraphRunRequest> = {},
): GraphRunRequest {
  return {
    runId: randomUUID(),
    attempt: 0,
    ingressRequestId: randomUUID(),
    caller: { billingAccountId: "acme", virtualKeyId: "key-1", traceId: "trace-1" },
    graphId: `langgraph:${graphName}`,
    threadId: randomUUID(),
    stateKey: `${graphName}/e2e`,
    model: "default",
    start: { kind: "input", messages: [{ id: randomUUID(), role: "user", content: "Go" }], state },
    tools: [],
    context: [],
    profile: "user",
    signal: new AbortController().signal,
    ...changes,
  };
}

export async function runOn(
  executor: GraphExecutorPort,
  request: GraphRunRequest,
): Promise<{ readonly chunks: readonly UpstreamChunk[]; readonly final: GraphFinal }> {
  const { stream, final } = executor.runGraph(request);
  const chunks: UpstreamChunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return { chunks, final: await final };
}

/** The numbers that a `counter` said aloud, in the order in which they came. */
export function countedIn(chunks: readonly UpstreamChunk[]): readonly number[] {
  return chunks.flatMap(({ mode, data }) =>
    mode === "custom" && typeof data === "object" && data && "number" in data ? [Number(data.number)] : [],
  );
}

export const numbersTo = (count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => index + 1);
