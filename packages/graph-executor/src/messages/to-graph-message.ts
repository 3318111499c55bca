import type { Json, JsonObject, Message, ToolCall } from "@throughline/ai-core";
import { isJsonObject, toPlain } from "@throughline/coerce";

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
