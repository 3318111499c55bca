"use client";

import type { ReactNode } from "react";
import { CopyButton } from "../../design/copy-button";
import styles from "./message-actions.module.css";

interface MessageActionsProps {
  /** As the agent wrote it, in Markdown. */
  readonly text: string;
  /** Of the turn that it stands in. */
  readonly anchor: string;
}

/** What a person does with an answer. */
export function MessageActions({ text, anchor }: MessageActionsProps): ReactNode {
  return (
    <div className={styles.actions}>
      <CopyButton text={() => text} label="Copy as Markdown" />
      <CopyButton
        icon="link"
        text={() => `${location.origin}${location.pathname}#${anchor}`}
        label="Copy a link to this turn"
      />
    </div>
  );
}
