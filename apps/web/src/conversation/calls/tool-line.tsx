"use client";

import { type CallView, contentText, type MessageView, type ToolCallView } from "@throughline/agent-client";
import { resultOf, useThreadHandle } from "@throughline/agent-react";
import type { ReactNode } from "react";
import { gateId } from "../../interrupts/gate-id";
import { AttachedFiles } from "../files/attached-files";
import { filesInText } from "../files/content-parts";
import type { SettledThread } from "../settled/settled-thread";
import { useSettledPart, useSettledThread } from "../settled/use-settled-thread";
import { CallBlock } from "./call-block";
import { useToolCalls } from "./use-run-calls";

/** A tool the model asked for, where it asked: its input as the model wrote it, its result, and the subagent behind it. */
export function ToolLine({ call }: { readonly call: ToolCallView }): ReactNode {
  const index = useToolCalls(call.id);
  const result = useSettledPart(call.id, resultIn);
  const unanswered = useSettledThread(statusOfUnanswered);
  const work = index.workOfToolCall.get(call.id) ?? unseen(call, unanswered, result);
  const isOver = result !== undefined || (work.status !== "running" && work.status !== "interrupted");
  const shown = result?.failed ? { ...work, status: "error" as const } : work;
  const thread = useThreadHandle();
  const text = isOver && result ? contentText(result.content) : undefined;
  return (
    <>
      <CallBlock call={shown} index={index} args={call.args} {...(text !== undefined && { result: text })} />
      {!isOver && <div id={gateId(call.id)} />}
      {text !== undefined && <AttachedFiles files={filesInText(text)} thread={thread} />}
    </>
  );
}

function resultIn({ messages }: SettledThread, toolCallId: string): MessageView | undefined {
  return resultOf(messages, toolCallId);
}

/** Of a call that has no result: a run that asks a person has not begun what it asks about. */
function statusOfUnanswered({ run }: SettledThread): CallView["status"] {
  return run?.status === "running" || run?.status === "interrupted" ? run.status : "cancelled";
}

/** Older than what the service remembers of calls, or not begun: what the conversation itself knows of it. */
function unseen(
  call: ToolCallView,
  unanswered: CallView["status"],
  result: MessageView | undefined,
): CallView {
  return {
    runId: "",
    callId: call.id,
    parentId: null,
    kind: "tool",
    name: call.name,
    attempt: 0,
    status: result ? (result.failed ? "error" : "ok") : unanswered,
    startedAt: 0,
    endedAt: 0,
  };
}
