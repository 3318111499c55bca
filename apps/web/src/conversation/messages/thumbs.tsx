"use client";

import type { ReactNode } from "react";
import { IconButton } from "../../design/button";
import type { Feedback } from "../../service/queries/feedback";
import styles from "./message-actions.module.css";
import type { MessageFeedback } from "./use-feedback";

const THUMBS = [
  { value: "up", icon: "thumbUp", words: "Good answer" },
  { value: "down", icon: "thumbDown", words: "Bad answer" },
] as const satisfies readonly { value: Feedback["value"]; [key: string]: string }[];

/** Says what an answer is worth, with one press. */
export function Thumbs({ feedback }: { readonly feedback: MessageFeedback }): ReactNode {
  const { given, reason, press } = feedback;
  return THUMBS.map(({ value, icon, words }) => (
    <IconButton
      key={value}
      icon={icon}
      label={reason === undefined ? words : `${words}: ${reason}`}
      className={styles.thumb}
      aria-pressed={given?.value === value}
      disabled={reason !== undefined}
      onClick={() => void press(value)}
    />
  ));
}
