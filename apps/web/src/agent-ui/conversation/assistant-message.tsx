"use client";

import { contentText, useMessage } from "@throughline/agent-react";
import dynamic from "next/dynamic";
import { memo, type ReactNode, useDeferredValue, useId, useState } from "react";
import { Markdown } from "../markdown/markdown";
import { FoldRow } from "../primitives/disclosure";
import { Icon } from "../primitives/icon";
import { messageAnchor } from "./anchors";
import styles from "./assistant-message.module.css";
import { FilesOfThread } from "./attachments";
import { ToolLine } from "./call-row";
import { type SettledThread, useSettledPart } from "./stable-thread";

/** What the agent thought before it spoke. Folded away: it is there for whoever wonders. */
function Reasoning({ text, isGrowing }: { readonly text: string; readonly isGrowing: boolean }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  return (
    <div className={styles.reasoning} data-quiet="true">
      <FoldRow isOpen={isOpen} onToggle={() => setOpen(!isOpen)} controls={id} className={styles.row}>
        <Icon name="thought" size={14} />
        <span className={isGrowing ? styles.live : undefined}>{isGrowing ? "Thinking…" : "Thought"}</span>
        {!isOpen && <span className={styles.peek}>{firstLine(text)}</span>}
      </FoldRow>
      <div id={id} hidden={!isOpen} className={styles.text}>
        {isOpen && <Markdown text={text} isGrowing={isGrowing} />}
      </div>
    </div>
  );
}

/** Looked at with every token of a thought: never the whole of it. */
function firstLine(text: string): string {
  return text.slice(0, 160).trimStart().split("\n", 1)[0] ?? "";
}

/** Not needed to read: its place is kept until it is there. */
const MessageActions = dynamic(() => import("./message-actions").then((module) => module.MessageActions), {
  ssr: false,
  loading: () => <ActionsPlace />,
});

interface AssistantMessageProps {
  readonly id: string;
  /** Of the turn that it stands in. */
  readonly anchor: string;
}

/** What the agent said, thought or asked a tool for. A token of it renders this and nothing else. */
export const AssistantMessage = memo(function AssistantMessage({
  id,
  anchor,
}: AssistantMessageProps): ReactNode {
  const message = useMessage(id);
  const isGrowing = useSettledPart(id, isSpeaking);
  // The frame that shows an answer's end has enough to do without its buttons.
  const hasActions = useDeferredValue(!isGrowing);
  if (!message) return null;
  const text = contentText(message.content);
  if (message.role === "reasoning") return <Reasoning text={text} isGrowing={isGrowing} />;
  if (message.role === "tool") return text === "" ? null : <pre className={styles.loose}>{text}</pre>;
  const isStep = message.toolCalls !== undefined && message.toolCalls.length > 0;
  return (
    <div id={messageAnchor(id)} className={styles.message} data-quiet={text === ""} data-step={isStep}>
      {text !== "" && (
        <FilesOfThread>
          <Markdown text={text} isGrowing={isGrowing} />
        </FilesOfThread>
      )}
      {isStep && (
        <div>
          {message.toolCalls?.map((call) => (
            <ToolLine key={call.id} call={call} />
          ))}
        </div>
      )}
      {text !== "" &&
        !isGrowing &&
        (hasActions ? (
          <MessageActions id={id} runId={message.runId} text={text} anchor={anchor} isStep={isStep} />
        ) : (
          !isStep && <ActionsPlace />
        ))}
    </div>
  );
});

function ActionsPlace(): ReactNode {
  return <div className={styles.actions} />;
}

function isSpeaking({ speaking }: SettledThread, id: string): boolean {
  return speaking.includes(id);
}
