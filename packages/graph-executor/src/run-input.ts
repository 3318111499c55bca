import type { GraphRunRequest, Json, JsonObject, Message, ToolCall } from "@throughline/ai-core";
import { isJsonObject, toPlain } from "@throughline/coerce";
import type { RunnableGraph } from "./graphs/graph.js";

/** The `config.configurable` that a graph gets. */
export type RunConfigurable = JsonObject & { readonly thread_id: string };

/**
 * R32: everything here may end up in a checkpoint or a trace, so it holds the id of a key and never the key.
 * R30: a graph that declares no state for it finds the frontend's tools and context here as well.
 * R29: a command is here and nowhere else: an input is written to a checkpoint, and shown. Where there is none it is null:
 * LangGraph servers retain the configuration of a thread's runs, and an omitted key would repeat the last command.
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

/** The run's values for the keys that its graph declares. */
export function givenContext({ config, model }: Pick<GraphRunRequest, "config" | "model">): JsonObject {
  return { ...config?.configurable, ...(model !== undefined && { model }) };
}

/** Tools and context of the frontend, as AG-UI's LangGraph integration calls them. */
export function frontendOf(request: Pick<GraphRunRequest, "tools" | "context">): JsonObject {
  return { tools: toPlain(request.tools), context: toPlain(request.context) };
}

/**
 * Messages and state as one input. R26: LangGraph itself applies only keys of the graph's input schema; `messages` never
 * comes from a client's state.
 */
export function graphInput(
  graph: RunnableGraph,
  request: Pick<GraphRunRequest, "tools" | "context">,
  { messages, state = {} }: { readonly messages: readonly Message[]; readonly state?: JsonObject },
): JsonObject {
  const { messages: _, ...clientState } = state;
  return {
    ...clientState,
    ...frontendState(graph, request),
    ...(messages.length > 0 && { messages: messages.map(toGraphMessage) }),
  };
}

/**
 * R30: tools and context where AG-UI's and CopilotKit's graphs look for them, for graphs that declare these keys. Empty
 * lists are written as well: tools that a frontend removed must not linger in the state.
 */
function frontendState(
  graph: RunnableGraph,
  request: Pick<GraphRunRequest, "tools" | "context">,
): JsonObject {
  const frontend = frontendOf(request);
  return {
    ...("ag-ui" in graph.channels && { "ag-ui": frontend }),
    ...("copilotkit" in graph.channels && {
      copilotkit: { actions: frontend.tools ?? [], context: frontend.context ?? [] },
    }),
  };
}

/**
 * A message as a graph takes it. A plain object and not one of our LangChain's classes: a project brings its own copy of
 * LangChain, a server its own process, and each makes messages of its own from this.
 */
export function toGraphMessage(message: Message): JsonObject {
  const { id, role, content, name, tool_calls: calls, tool_call_id: callId, status } = message;
  return {
    role,
    id,
    content: toGraphContent(content),
    ...(name !== undefined && { name }),
    ...(calls && calls.length > 0 && { tool_calls: calls.map(toGraphCall) }),
    ...(callId !== undefined && { tool_call_id: callId }),
    ...(status !== undefined && { status }),
  };
}

/** JSON already, and not made so again: `toPlain` would take out the bytes that a graph is to have. */
function toGraphContent(content: Message["content"]): Json {
  return typeof content === "string" ? content : JSON.parse(JSON.stringify(content));
}

function toGraphCall({ id, name, args }: ToolCall): JsonObject {
  return { id, name, args: parseArgs(args), type: "tool_call" };
}

/** Arguments a model never finished are no JSON; a graph can only take them as none. */
function parseArgs(text: string): JsonObject {
  try {
    const args: Json = toPlain(JSON.parse(text));
    return isJsonObject(args) ? args : {};
  } catch {
    return {};
  }
}
