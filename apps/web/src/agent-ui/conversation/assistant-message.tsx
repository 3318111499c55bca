"use client";

import { contentText, useMessage } from "@throughline/agent-react";
import dynamic from "next/dynamic";
import { memo, type ReactNode, useDeferredValue, useId, useState } from "react";
import { Markdown } from "../markdown/markdown";
import { DisclosureRow } from "../primitives/disclosure";
import { Icon } from "../primitives/icon";
import { messageAnchor } from "./anchors";
import styles from "./assistant-message.module.css";
import { FilesOfThread } from "./attachments";
import { ToolCallRow } from "./call-row";
import { type StableThread, useStablePart } from "./stable-thread";

/** The reasoning that precedes a message, collapsed by default. */
function Reasoning({ text, isGrowing }: { readonly text: string; readonly isGrowing: boolean }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  return (
    <div className={styles.reasoning} data-quiet="true">
      <DisclosureRow isOpen={isOpen} onToggle={() => setOpen(!isOpen)} controls={id} className={styles.row}>
        <Icon name="thought" size={14} />
        <span className={isGrowing ? styles.live : undefined}>{isGrowing ? "Thinking…" : "Thought"}</span>
        {!isOpen && <span className={styles.peek}>{firstLine(text)}</span>}
      </DisclosureRow>
      <div id={id} hidden={!isOpen} className={styles.text}>
        {isOpen && <Markdown text={text} isGrowing={isGrowing} />}
      </div>
    </div>
  );
}

/** The first line of a text. Runs with every reasoning token, so it never scans the whole text. */
function firstLine(text: string): string {
  return text.slice(0, 160).trimStart().split("\n", 1)[0] ?? "";
}

/** Loaded late, since reading does not need it; a placeholder reserves its space. */
const MessageActions = dynamic(() => import("./message-actions").then((module) => module.MessageActions), {
  ssr: false,
  loading: () => <ActionsPlaceholder />,
});

interface AssistantMessageProps {
  readonly id: string;
  /** Anchor of its turn. */
  readonly anchor: string;
}

/** A message of the agent: text, reasoning or tool calls. A token renders only the message it belongs to. */
export const AssistantMessage = memo(function AssistantMessage({
  id,
  anchor,
}: AssistantMessageProps): ReactNode {
  const message = useMessage(id);
  const isGrowing = useStablePart(id, isSpeaking);
  // Deferred, so that the frame that shows the end of a message does not render its buttons as well.
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
            <ToolCallRow key={call.id} call={call} />
          ))}
        </div>
      )}
      {text !== "" &&
        !isGrowing &&
        (hasActions ? (
          <MessageActions id={id} runId={message.runId} text={text} anchor={anchor} isStep={isStep} />
        ) : (
          !isStep && <ActionsPlaceholder />
        ))}
    </div>
  );
});

function ActionsPlaceholder(): ReactNode {
  return <div className={styles.actions} />;
}

function isSpeaking({ speaking }: StableThread, id: string): boolean {
  return speaking.includes(id);
}
