"use client";

import { useThreadHandle } from "@throughline/agent-react";
import { useState } from "react";
import { useCaller } from "../../console/caller";
import { useToaster } from "../../design/toast";
import {
  type Feedback,
  useGiveFeedback,
  useOwnFeedback,
  useTakeBackFeedback,
} from "../../service/queries/feedback";

/** What the caller thinks of one message, and the ways to say so. */
export interface MessageFeedback {
  readonly given: Feedback | undefined;
  /** Why they may not say it. */
  readonly reason: string | undefined;
  /** A note is being written. */
  readonly isNoting: boolean;
  setNoting(isNoting: boolean): void;
  /** The same thumb again takes it back. */
  press(value: Feedback["value"]): Promise<void>;
  /** Throws what the service refused. */
  saveNote(note: string): Promise<void>;
}

export function useFeedback(messageId: string, runId: string | undefined): MessageFeedback {
  const thread = useThreadHandle();
  const { subject, refusal } = useCaller();
  const given = useOwnFeedback(thread, messageId, subject);
  const reason = refusal("give_feedback", thread);
  const give = useGiveFeedback(thread);
  const takeBack = useTakeBackFeedback(thread);
  const toaster = useToaster();
  const [isNoting, setNoting] = useState(false);
  const about = { messageId, ...(runId !== undefined && { runId }) };

  async function press(value: Feedback["value"]): Promise<void> {
    const isTakenBack = given?.value === value;
    try {
      if (isTakenBack) await takeBack(messageId);
      else await give({ ...about, value, ...(given?.note && { note: given.note }) });
      setNoting(!isTakenBack);
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      toaster.show({ key: "feedback", title: "Your feedback was not saved", text, tone: "danger" });
    }
  }

  async function saveNote(note: string): Promise<void> {
    if (!given) return;
    await give({ ...about, value: given.value, note });
  }

  return { given, reason, isNoting, setNoting, press, saveNote };
}
