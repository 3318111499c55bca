import type { GraphRunRequest, JsonObject } from "@throughline/ai-core";
import { toPlain } from "@throughline/coerce";

/** What a graph finds in `config.configurable`. */
export type RunConfigurable = JsonObject & { readonly thread_id: string };

/**
 * R32: everything here may end up in a checkpoint or a trace, so it holds the id of a key and never the key.
 * R30: a graph that declares no state for it finds the frontend's tools and context here as well.
 * R29: a command is here and nowhere else: an input is written to a checkpoint, and shown. Where there is none it is null:
 * LangGraph servers keep what a thread's runs were configured with, and a key left out would be the last command again.
 * `model` is there only where one was chosen: models of `initChatModel` and `createAgent` read this key, and any value of it
 * replaces the model that the graph's author wrote.
 */
export function runConfigurable(request: GraphRunRequest, extra: JsonObject): RunConfigurable {
  const { caller } = request;
  return {
    ...extra,
    ...givenContext(request),
    thread_id: request.threadId,
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

/** What a run gives of the keys that its graph declares. */
export function givenContext({ config, model }: Pick<GraphRunRequest, "config" | "model">): JsonObject {
  return { ...config?.configurable, ...(model !== undefined && { model }) };
}

/** Tools and context of the frontend, as AG-UI's LangGraph integration calls them. */
export function frontendOf(request: Pick<GraphRunRequest, "tools" | "context">): JsonObject {
  return { tools: toPlain(request.tools), context: toPlain(request.context) };
}
