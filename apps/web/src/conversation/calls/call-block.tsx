"use client";

import type { CallView } from "@throughline/agent-client";
import { useMessage } from "@throughline/agent-react";
import { type ReactNode, useId, useState } from "react";
import { Elapsed } from "../../design/elapsed";
import { FoldRow } from "../../design/fold-row";
import { Icon, type IconName } from "../../design/icon";
import { JsonView } from "../../design/json-view";
import { ProgressBar } from "../../design/progress-bar";
import styles from "./call-block.module.css";
import { type CallIndex, isPassing } from "./call-index";
import { FailureDetail } from "./failure-detail";
import { progressOf } from "./progress";

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
