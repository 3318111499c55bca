"use client";

import { contentText, useMessage } from "@throughline/agent-react";
import dynamic from "next/dynamic";
import { memo, type ReactNode, useDeferredValue } from "react";
import { ToolLine } from "../calls/tool-line";
import { FilesOfThread } from "../files/files-of-thread";
import { Markdown } from "../markdown/markdown";
import type { SettledThread } from "../settled/settled-thread";
import { useSettledPart } from "../settled/use-settled-thread";
import { messageAnchor } from "../turns/turn-anchor";
import styles from "./assistant-message.module.css";
import { Reasoning } from "./reasoning";

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
