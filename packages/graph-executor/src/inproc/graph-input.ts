import type { GraphRunRequest, JsonObject, Message } from "@throughline/ai-core";
import type { RunnableGraph } from "../graphs/runnable-graph.js";
import { toGraphMessage } from "../messages/to-graph-message.js";
import { frontendOf } from "./run-config.js";

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
 * lists are written as well: tools that a frontend took away must not linger in the state.
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
