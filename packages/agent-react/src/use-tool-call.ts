import {
  type CallView,
  type MessageView,
  messageById,
  type RunView,
  type ThreadSnapshot,
  type ThreadView,
} from "@throughline/agent-client";
import type { JsonObject } from "@throughline/ai-core";
import { useCallback, useMemo } from "react";
import { readPartialJson } from "./predicted-state.js";
import { useMessage } from "./use-messages.js";
import { shallowEqual } from "./use-selector.js";
import { useThreadFor } from "./use-thread.js";

/**
 * How far a call has come. `streaming`: the model still writes its arguments. `interrupted`: the agent waits for a person.
 * `cancelled`: its run is over, and it was never answered.
 */
export type ToolCallStatus = "streaming" | "running" | "interrupted" | "done" | "failed" | "cancelled";

/** What is known of a call beside its arguments. */
interface ToolCallProgress {
  readonly status: ToolCallStatus;
  /** What the tool answered; of one that failed, why. */
  readonly result: MessageView["content"] | undefined;
}

/** The call as the view has it. O(messages under way) for a call that is answered or streams, else O(calls). */
function progressOf(view: ThreadView, messageId: string, toolCallId: string): ToolCallProgress {
  const answer = resultOf(view.messages, toolCallId);
  if (answer) return { status: answer.failed ? "failed" : "done", result: answer.content };
  if (view.open.some(({ openCalls }) => openCalls.includes(toolCallId)))
    return { status: "streaming", result: undefined };
  const work = view.calls.findLast((call) => call.kind === "tool" && call.toolCallId === toolCallId);
  const runId = messageById(view, messageId)?.runId;
  return { status: work ? STATUS_OF_WORK[work.status] : unbegun(view.run, runId), result: undefined };
}

/** `ok`: its result is about to be told. */
const STATUS_OF_WORK: Readonly<Record<CallView["status"], ToolCallStatus>> = {
  running: "running",
  ok: "running",
  error: "failed",
  lost: "failed",
  interrupted: "interrupted",
  cancelled: "cancelled",
};

/** Of a call that no tool has begun. One that a run left when it ended well is the page's own to answer. */
function unbegun(run: RunView | null, runId: string | undefined): ToolCallStatus {
  if (!run || (runId !== undefined && runId !== run.serviceRunId)) return "cancelled";
  if (run.status === "interrupted") return "interrupted";
  return run.status === "running" || run.status === "success" ? "running" : "cancelled";
}

const resultsByList = new WeakMap<readonly MessageView[], ReadonlyMap<string, MessageView>>();

/** What a tool answered. One pass per list, however many ask: a list stays the same while text streams. */
export function resultOf(messages: readonly MessageView[], toolCallId: string): MessageView | undefined {
  let results = resultsByList.get(messages);
  if (!results) {
    results = new Map(
      messages.flatMap((message) =>
        message.toolCallId === undefined ? [] : [[message.toolCallId, message]],
      ),
    );
    resultsByList.set(messages, results);
  }
  return results.get(toolCallId);
}

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
