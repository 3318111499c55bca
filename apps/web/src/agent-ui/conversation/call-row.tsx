"use client";

import { type CallView, contentText, type MessageView, type ToolCallView } from "@throughline/agent-client";
import { resultOf, useMessage, useThreadHandle } from "@throughline/agent-react";
import { type ReactNode, useId, useState } from "react";
import { FoldRow } from "../primitives/disclosure";
import { Icon, type IconName } from "../primitives/icon";
import { JsonView } from "../primitives/json-tree";
import { ProgressBar } from "../primitives/status";
import { Elapsed } from "../primitives/time";
import { gateId } from "./anchors";
import { AttachedFiles, filesInText } from "./attachments";
import { type CallIndex, isPassing, useToolCalls } from "./call-index";
import styles from "./call-row.module.css";
import { FailureDetail } from "./failure";
import { progressOf } from "./progress";
import { type SettledThread, useSettledPart, useSettledThread } from "./stable-thread";

const ICONS: Readonly<Record<CallView["kind"], IconName>> = {
  run: "play",
  node: "node",
  subgraph: "subgraph",
  model: "model",
  tool: "tool",
};

const KIND_WORDS: Readonly<Record<CallView["kind"], string>> = {
  run: "Run",
  node: "Step",
  subgraph: "Subagent",
  model: "Model",
  tool: "Tool",
};

const STATUS_WORDS: Readonly<Record<CallView["status"], string | undefined>> = {
  running: undefined,
  ok: undefined,
  error: "failed",
  interrupted: "waits",
  cancelled: "stopped",
  lost: "started over",
};

interface CallBlockProps {
  readonly call: CallView;
  readonly index: CallIndex;
  /** What a model wrote as the tool's input, whole: the call's own is cut when it is long. */
  readonly args?: string;
  readonly result?: string;
}

/** One piece of work in one line, and behind it what went in, what came out, and the work it is made of. */
export function CallBlock({ call, index, args, result }: CallBlockProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const progress = call.status === "running" ? progressOf(call.progress) : undefined;
  return (
    <div className={styles.call} data-status={call.status}>
      <FoldRow isOpen={isOpen} onToggle={() => setOpen(!isOpen)} controls={id} className={styles.row}>
        <span className={styles.icon}>
          <Icon name={call.status === "error" ? "error" : ICONS[call.kind]} size={14} />
        </span>
        <span className="visually-hidden">{KIND_WORDS[call.kind]}</span>
        <span className={styles.name}>{call.name}</span>
        <span className={styles.note}>
          {failureWords(call) ??
            STATUS_WORDS[call.status] ??
            progress?.words ??
            (isOpen ? "" : summaryOf(args ?? call.args, call.name))}
        </span>
        <span className={styles.time}>
          <Elapsed startedAt={call.startedAt} endedAt={call.endedAt} />
        </span>
      </FoldRow>
      {progress?.share !== undefined && <ProgressBar share={progress.share} label={progress.words} />}
      <div id={id} hidden={!isOpen} className={styles.inside}>
        {isOpen && (
          <Inside
            call={call}
            index={index}
            {...(args !== undefined && { args })}
            {...(result !== undefined && { result })}
          />
        )}
      </div>
    </div>
  );
}

function Inside({ call, index, args, result }: CallBlockProps): ReactNode {
  const work = innerWork(call, index);
  const shown = work.filter((child) => !isPassing(child, index));
  const input = args ?? call.args;
  const output = result ?? (call.kind === "model" ? undefined : call.result);
  const left = work.length - shown.length;
  return (
    <>
      {call.error && <FailureDetail error={call.error} />}
      {input !== undefined && <JsonView label="Input" value={input} />}
      {call.earlier !== undefined && <EarlierCalls count={call.earlier} />}
      {shown.map((child) => (
        <CallBlock key={child.callId} call={child} index={index} />
      ))}
      {call.messageId !== undefined && <SaidInside messageId={call.messageId} />}
      {call.usage && (
        <p className={styles.fact}>
          {call.usage.input_tokens.toLocaleString("en")} tokens in,{" "}
          {call.usage.output_tokens.toLocaleString("en")} out
        </p>
      )}
      {output !== undefined && <JsonView label="Result" value={output} />}
      {left > 0 && (
        <p className={styles.fact}>
          and {left} {left === 1 ? "step" : "steps"} of a moment each
        </p>
      )}
    </>
  );
}

/** Work that the service no longer keeps. */
export function EarlierCalls({ count }: { readonly count: number }): ReactNode {
  return <p className={styles.fact}>{count === 1 ? "1 earlier call" : `${count} earlier calls`}</p>;
}

function failureWords({ status, error }: CallView): string | undefined {
  return status === "error" && error ? `failed: ${error.message}` : undefined;
}

/** A tool that sends out a subagent is told by the subagent's line, and not a second time. */
function innerWork(call: CallView, index: CallIndex): readonly CallView[] {
  return index
    .childrenOf(call)
    .filter(({ kind, callId }) => kind !== "tool" || index.workOfToolCall.get(callId)?.kind !== "subgraph");
}

function SaidInside({ messageId }: { readonly messageId: string }): ReactNode {
  const message = useMessage(messageId);
  const asked = message?.toolCalls?.map(({ name }) => name).join(", ");
  if (typeof message?.content === "string" && message.content !== "") {
    return <JsonView label="Said" value={message.content} />;
  }
  return asked ? <JsonView label="Asked for" value={asked} /> : null;
}

/** What tells one call of a tool from the next: its first short values, without the name that stands before them. */
function summaryOf(args: CallView["args"], name: string): string {
  const value = typeof args === "string" ? parsed(args) : args;
  if (typeof value !== "object" || value === null) return "";
  return Object.values(value)
    .filter((one) => (typeof one === "string" || typeof one === "number") && one !== name)
    .slice(0, 2)
    .join(" · ");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

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
