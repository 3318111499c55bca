"use client";

import {
  type CallView,
  contentText,
  currentMessages,
  type MessageView,
  type ThreadView,
} from "@throughline/agent-client";
import { useThreadHandle } from "@throughline/agent-react";
import type { ReactNode } from "react";
import { AttachedFiles } from "../../conversation/files/attached-files";
import { contentFiles, filesInText } from "../../conversation/files/content-parts";
import { FilesOfThread } from "../../conversation/files/files-of-thread";
import { Markdown } from "../../conversation/markdown/markdown";
import { Disclosure } from "../../design/disclosure";
import { formatDuration } from "../../design/format-duration";
import { prettyJson } from "../../design/json-view";
import { PanelSection } from "../panel-section";
import { NOTHING_CHANGED } from "../state/changed-paths";
import { StateTree } from "../state/state-tree";
import styles from "./replay-view.module.css";

const ROLE_WORDS: Readonly<Record<MessageView["role"], string>> = {
  user: "You",
  assistant: "Agent",
  reasoning: "Thought",
  tool: "Result",
  system: "System",
  developer: "Developer",
};

/** A thread as it stood, with nothing to press. */
export function ReplayView({ view }: { readonly view: ThreadView }): ReactNode {
  const messages = currentMessages(view).filter(({ subagentRunId }) => subagentRunId === undefined);
  const hasState = Object.keys(view.state).length > 0;
  return (
    <>
      <PanelSection title="Conversation">
        {messages.length === 0 && <p className={styles.none}>Nothing was said yet.</p>}
        <ol className={styles.messages}>
          {messages.map((message) => (
            <li key={message.id} className={styles.message} data-role={message.role}>
              <span className={styles.role}>{ROLE_WORDS[message.role]}</span>
              <Said message={message} />
            </li>
          ))}
        </ol>
        {view.run?.error && <p className={styles.failed}>{view.run.error.message}</p>}
      </PanelSection>
      <PanelSection title="Work" note={view.calls.length}>
        <ol className={styles.calls}>
          {view.calls.map((call) => (
            <CallLine key={`${call.attempt} ${call.callId}`} call={call} depth={depthOf(call, view.calls)} />
          ))}
        </ol>
      </PanelSection>
      {hasState && (
        <PanelSection title="State">
          <StateTree value={view.state} changes={NOTHING_CHANGED} round={0} />
        </PanelSection>
      )}
    </>
  );
}

function Said({ message }: { readonly message: MessageView }): ReactNode {
  const thread = useThreadHandle();
  const text = contentText(message.content);
  const files = message.role === "tool" ? filesInText(text) : contentFiles(message.content);
  return (
    <div className={styles.said}>
      {message.role === "assistant" && text !== "" && (
        <FilesOfThread>
          <Markdown text={text} isGrowing />
        </FilesOfThread>
      )}
      {message.role === "tool" && <Folded brief={text} text={text} />}
      {message.role !== "assistant" && message.role !== "tool" && text !== "" && (
        <p className={styles.plain}>{text}</p>
      )}
      <AttachedFiles files={files} thread={thread} />
      {message.toolCalls?.map((call) => (
        <Folded key={call.id} name={call.name} brief={call.args} text={call.args} />
      ))}
    </div>
  );
}

interface FoldedProps {
  readonly name?: string;
  readonly brief: string;
  readonly text: string;
}

function Folded({ name, brief, text }: FoldedProps): ReactNode {
  const summary = (
    <span className={styles.brief}>
      {name !== undefined && <code className={styles.tool}>{name}</code>} {brief}
    </span>
  );
  return (
    <Disclosure summary={summary}>
      <pre className={styles.result}>{prettyJson(text)}</pre>
    </Disclosure>
  );
}

function CallLine({ call, depth }: { readonly call: CallView; readonly depth: number }): ReactNode {
  return (
    <li className={styles.call} data-status={call.status} style={{ paddingLeft: `${depth * 0.75}rem` }}>
      <span className={styles.kind}>{call.kind}</span>
      <span className={styles.name}>{call.name}</span>
      <span className={styles.time}>
        {call.endedAt === null ? "running" : formatDuration(call.endedAt - call.startedAt)}
      </span>
    </li>
  );
}

function depthOf(call: CallView, calls: readonly CallView[]): number {
  const parents = new Map(calls.map(({ callId, parentId }) => [callId, parentId]));
  let depth = 0;
  for (let at = call.parentId; at !== null && depth < 6; at = parents.get(at) ?? null) depth += 1;
  return depth;
}
