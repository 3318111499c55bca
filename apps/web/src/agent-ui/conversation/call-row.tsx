"use client";

import { type CallView, contentText, type ThreadMessage, type ToolCallView } from "@throughline/agent-client";
import { resultOf, useMessage, useThreadHandle } from "@throughline/agent-react";
import { type ReactNode, useId, useState } from "react";
import { DisclosureRow } from "../primitives/disclosure";
import { Elapsed } from "../primitives/elapsed";
import { Icon, type IconName } from "../primitives/icon";
import { JsonView } from "../primitives/json-tree";
import { ProgressBar } from "../primitives/progress-bar";
import { approvalAnchor } from "./anchors";
import { AttachedFiles, filesInText } from "./attachments";
import { type CallIndex, isPassing, useToolCalls } from "./call-index";
import styles from "./call-row.module.css";
import { FailureDetail } from "./failure";
import { progressOf } from "./progress";
import { type StableThread, useStablePart, useStableThread } from "./stable-thread";

const ICONS: Readonly<Record<CallView["kind"], IconName>> = {
  run: "play",
  node: "node",
  subgraph: "subgraph",
  model: "model",
  tool: "tool",
};

const KIND_LABELS: Readonly<Record<CallView["kind"], string>> = {
  run: "Run",
  node: "Step",
  subgraph: "Subagent",
  model: "Model",
  tool: "Tool",
};

const STATUS_LABELS: Readonly<Record<CallView["status"], string | undefined>> = {
  running: undefined,
  ok: undefined,
  error: "failed",
  interrupted: "waits",
  cancelled: "stopped",
  lost: "started over",
};

interface CallRowProps {
  readonly call: CallView;
  readonly index: CallIndex;
  /** The complete tool input as the model wrote it; the input in the call is truncated when it is long. */
  readonly args?: string;
  readonly result?: string;
}

/** A call in one row, which expands to its input, result and child calls. */
export function CallRow({ call, index, args, result }: CallRowProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const progress = call.status === "running" ? progressOf(call.progress) : undefined;
  return (
    <div className={styles.call} data-status={call.status}>
      <DisclosureRow isOpen={isOpen} onToggle={() => setOpen(!isOpen)} controls={id} className={styles.row}>
        <span className={styles.icon}>
          <Icon name={call.status === "error" ? "error" : ICONS[call.kind]} size={14} />
        </span>
        <span className="visually-hidden">{KIND_LABELS[call.kind]}</span>
        <span className={styles.name}>{call.name}</span>
        <span className={styles.note}>
          {failureText(call) ??
            STATUS_LABELS[call.status] ??
            progress?.words ??
            (isOpen ? "" : summaryOf(args ?? call.args, call.name))}
        </span>
        <span className={styles.time}>
          <Elapsed startedAt={call.startedAt} endedAt={call.endedAt} />
        </span>
      </DisclosureRow>
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

function Inside({ call, index, args, result }: CallRowProps): ReactNode {
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
        <CallRow key={child.callId} call={child} index={index} />
      ))}
      {call.messageId !== undefined && <ModelOutput messageId={call.messageId} />}
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

/** The number of calls that the service no longer stores. */
export function EarlierCalls({ count }: { readonly count: number }): ReactNode {
  return <p className={styles.fact}>{count === 1 ? "1 earlier call" : `${count} earlier calls`}</p>;
}

function failureText({ status, error }: CallView): string | undefined {
  return status === "error" && error ? `failed: ${error.message}` : undefined;
}

/** The child calls. A tool that starts a subagent is omitted: the row of the subagent represents it. */
function innerWork(call: CallView, index: CallIndex): readonly CallView[] {
  return index
    .childrenOf(call)
    .filter(({ kind, callId }) => kind !== "tool" || index.workOfToolCall.get(callId)?.kind !== "subgraph");
}

function ModelOutput({ messageId }: { readonly messageId: string }): ReactNode {
  const message = useMessage(messageId);
  const asked = message?.toolCalls?.map(({ name }) => name).join(", ");
  if (typeof message?.content === "string" && message.content !== "") {
    return <JsonView label="Said" value={message.content} />;
  }
  return asked ? <JsonView label="Asked for" value={asked} /> : null;
}

/** The first short values of a tool input, which distinguish calls of one tool. The name of the call is not repeated. */
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

/** A tool call in its message: the input as the model wrote it, the result, and the subagent that it started. */
export function ToolCallRow({ call }: { readonly call: ToolCallView }): ReactNode {
  const index = useToolCalls(call.id);
  const result = useStablePart(call.id, resultIn);
  const unanswered = useStableThread(statusOfUnanswered);
  const work = index.workOfToolCall.get(call.id) ?? unseen(call, unanswered, result);
  const isOver = result !== undefined || (work.status !== "running" && work.status !== "interrupted");
  const shown = result?.failed ? { ...work, status: "error" as const } : work;
  const thread = useThreadHandle();
  const text = isOver && result ? contentText(result.content) : undefined;
  return (
    <>
      <CallRow call={shown} index={index} args={call.args} {...(text !== undefined && { result: text })} />
      {!isOver && <div id={approvalAnchor(call.id)} />}
      {text !== undefined && <AttachedFiles files={filesInText(text)} thread={thread} />}
    </>
  );
}

function resultIn({ messages }: StableThread, toolCallId: string): ThreadMessage | undefined {
  return resultOf(messages, toolCallId);
}

/** Status of a tool call without a result. An interrupted run has not started the calls that it requests approval for. */
function statusOfUnanswered({ run }: StableThread): CallView["status"] {
  return run?.status === "running" || run?.status === "interrupted" ? run.status : "cancelled";
}

/** A call made from the message alone, for one that the service no longer stores or that has not started. */
function unseen(
  call: ToolCallView,
  unanswered: CallView["status"],
  result: ThreadMessage | undefined,
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
