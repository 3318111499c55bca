import type { GraphRunRequest, JsonObject } from "@throughline/ai-core";
import { toPlain } from "@throughline/coerce";

/** What a graph finds in `config.configurable`; the model's part is what the graphs' model factory reads. */
export type RunConfigurable = JsonObject & { readonly thread_id: string };

/**
 * R32: everything here may end up in a checkpoint or a trace, so it holds the id of a key and never the key.
 * R30: a graph that declares no state for it finds the frontend's tools and context here as well.
 * R29: a command is here and nowhere else: an input is written to a checkpoint, and shown. Where there is none it is null:
 * LangGraph servers keep what a thread's runs were configured with, and a key left out would be the last command again.
 */
export function runConfigurable(request: GraphRunRequest, extra: JsonObject): RunConfigurable {
  const { caller } = request;
  return {
    ...extra,
    thread_id: request.threadId,
    model: request.model,
    virtualKeyId: caller.virtualKeyId,
    billingAccountId: caller.billingAccountId,
    runId: request.runId,
    attempt: request.attempt,
    ingressRequestId: request.ingressRequestId,
    traceId: caller.traceId,
    executorType: "inproc",
    "ag-ui": frontendOf(request),
    command: request.command ? toPlain(request.command) : null,
  };
}

/** Tools and context of the frontend, as AG-UI's LangGraph integration calls them. */
export function frontendOf(request: Pick<GraphRunRequest, "tools" | "context">): JsonObject {
  return { tools: toPlain(request.tools), context: toPlain(request.context) };
}
