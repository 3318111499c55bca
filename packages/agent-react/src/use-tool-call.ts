import type { ThreadSnapshot } from "@throughline/agent-client";
import type { JsonObject } from "@throughline/ai-core";
import { useCallback, useMemo } from "react";
import { readPartialJson } from "./partial-json.js";
import { shallowEqual } from "./shallow-equal.js";
import { progressOf, type ToolCallProgress } from "./tool-call.js";
import { useMessage } from "./use-messages.js";
import { useThreadFor } from "./use-thread.js";

/** A call of a tool as it stands. */
export interface ToolCallState extends ToolCallProgress {
  readonly toolCallId: string;
  readonly messageId: string;
  readonly name: string;
  /** What the tool is called with; `undefined` until all of it has come, and where the model wrote no object. */
  readonly args: JsonObject | undefined;
  /** The arguments as far as they have come: texts may be cut, and keys be missing. */
  readonly partialArgs: JsonObject;
}

/** One call of a message. Renders when its arguments, its status or its result change. */
export function useToolCall(messageId: string, toolCallId: string): ToolCallState | undefined {
  const call = useMessage(messageId)?.toolCalls?.find(({ id }) => id === toolCallId);
  const select = useCallback(
    ({ view }: ThreadSnapshot) => progressOf(view, messageId, toolCallId),
    [messageId, toolCallId],
  );
  const progress = useThreadFor("useToolCall()", select, shallowEqual);
  return useMemo(() => {
    if (!call) return undefined;
    const { name, args: text } = call;
    const read = readPartialJson(text);
    const partialArgs = typeof read === "object" && read !== null && !Array.isArray(read) ? read : {};
    const isWhole = progress.status !== "streaming" && (text === "" || partialArgs === read);
    return { ...progress, toolCallId, messageId, name, args: isWhole ? partialArgs : undefined, partialArgs };
  }, [call, progress, messageId, toolCallId]);
}
