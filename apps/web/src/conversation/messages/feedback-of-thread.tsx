"use client";

import { useThreadHandle } from "@throughline/agent-react";
import { createContext, type ReactNode, useContext } from "react";
import { type Feedback, useOwnFeedback } from "../../service/queries/feedback";
import type { SettledThread } from "../settled/settled-thread";
import { useSettledThread } from "../settled/use-settled-thread";

const NONE: ReadonlyMap<string, Feedback> = new Map();
const FeedbackContext = createContext(NONE);

/** Asks once for all messages of the thread. */
export function FeedbackOfThread({ children }: { readonly children: ReactNode }): ReactNode {
  const { value } = useOwnFeedback(useThreadHandle(), useSettledThread(hasAnswer));
  return <FeedbackContext value={value ?? NONE}>{children}</FeedbackContext>;
}

/** What the caller thinks of a message; `undefined`: nothing was said. */
export function useFeedbackOn(messageId: string): Feedback | undefined {
  return useContext(FeedbackContext).get(messageId);
}

function hasAnswer({ messages }: SettledThread): boolean {
  return messages.some(({ role }) => role === "assistant");
}
