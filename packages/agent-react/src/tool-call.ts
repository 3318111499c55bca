import {
  type CallView,
  type MessageView,
  messageById,
  type RunView,
  type ThreadView,
} from "@throughline/agent-client";

/**
 * How far a call has come. `streaming`: the model still writes its arguments. `interrupted`: the agent waits for a person.
 * `cancelled`: its run is over, and it was never answered.
 */
export type ToolCallStatus = "streaming" | "running" | "interrupted" | "done" | "failed" | "cancelled";

/** What is known of a call beside its arguments. */
export interface ToolCallProgress {
  readonly status: ToolCallStatus;
  /** What the tool answered; of one that failed, why. */
  readonly result: MessageView["content"] | undefined;
}

/** The call as the view has it. O(messages under way) for a call that is answered or streams, else O(calls). */
export function progressOf(view: ThreadView, messageId: string, toolCallId: string): ToolCallProgress {
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
