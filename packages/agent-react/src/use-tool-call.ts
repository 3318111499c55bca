import {
  type CallView,
  messageById,
  type ThreadMessage,
  type ThreadRun,
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
 * The status of a call. `streaming`: the model still writes its arguments. `interrupted`: the agent waits for a person.
 * `cancelled`: its run is over, and it never got a result.
 */
export type ToolCallStatus = "streaming" | "running" | "interrupted" | "done" | "failed" | "cancelled";

/** The status and the result of a call. */
interface ToolCallProgress {
  readonly status: ToolCallStatus;
  /** The tool's result; if it failed, the reason. */
  readonly result: ThreadMessage["content"] | undefined;
}

/** Reads the progress of a call from the view. O(open messages) for a call that has a result or streams, else O(calls). */
function progressOf(view: ThreadView, messageId: string, toolCallId: string): ToolCallProgress {
  const result = resultOf(view.messages, toolCallId);
  if (result) return { status: result.failed ? "failed" : "done", result: result.content };
  if (view.open.some(({ openCalls }) => openCalls.includes(toolCallId)))
    return { status: "streaming", result: undefined };
  const work = view.calls.findLast((call) => call.kind === "tool" && call.toolCallId === toolCallId);
  const runId = messageById(view, messageId)?.runId;
  return { status: work ? STATUS_OF_WORK[work.status] : unbegun(view.run, runId), result: undefined };
}

/** `ok` maps to `running`: its result is about to arrive. */
const STATUS_OF_WORK: Readonly<Record<CallView["status"], ToolCallStatus>> = {
  running: "running",
  ok: "running",
  error: "failed",
  lost: "failed",
  interrupted: "interrupted",
  cancelled: "cancelled",
};

/** The status of a call that no tool has begun. One that a successful run left open is for the page to run. */
function unbegun(run: ThreadRun | null, runId: string | undefined): ToolCallStatus {
  if (!run || (runId !== undefined && runId !== run.serviceRunId)) return "cancelled";
  if (run.status === "interrupted") return "interrupted";
  return run.status === "running" || run.status === "success" ? "running" : "cancelled";
}

const resultsByList = new WeakMap<readonly ThreadMessage[], ReadonlyMap<string, ThreadMessage>>();

/** Returns a tool's result. One pass per list, for any number of readers: a list stays the same while text streams. */
export function resultOf(messages: readonly ThreadMessage[], toolCallId: string): ThreadMessage | undefined {
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

/** The current state of a tool call. */
export interface ToolCallState extends ToolCallProgress {
  readonly toolCallId: string;
  readonly messageId: string;
  readonly name: string;
  /** The arguments; `undefined` until they are complete, and where the model wrote no object. */
  readonly args: JsonObject | undefined;
  /** The arguments received so far: texts may be cut, and keys be missing. */
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
