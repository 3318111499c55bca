import type { ThreadRef, ThreadScope } from "@throughline/thread-log";

export const FEEDBACK_VALUES = ["up", "down"] as const;
export type FeedbackValue = (typeof FEEDBACK_VALUES)[number];

/** What one person thinks of one message. */
export interface Feedback {
  readonly id: string;
  readonly thread: ThreadRef;
  readonly graphId: string;
  readonly threadName: string;
  readonly messageId: string;
  /** The run that brought the message, where the person's client knew it. */
  readonly runId: string | undefined;
  /** Who gave it; `undefined` for a caller who is no person. */
  readonly author: string | undefined;
  readonly value: FeedbackValue;
  readonly note: string | undefined;
  /** Milliseconds since the Unix epoch, by the store's clock. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

export type NewFeedback = Pick<Feedback, "thread" | "messageId" | "runId" | "author" | "value" | "note">;

export interface FeedbackPosition {
  readonly at: number;
  readonly id: string;
}

export interface FeedbackQuery {
  /** Of one thread only. */
  readonly threadId?: string | undefined;
  readonly graphId?: string | undefined;
  readonly value?: FeedbackValue | undefined;
  /** Given by one person only; the empty one is a caller who is no person. */
  readonly author?: string | undefined;
  /** Changed at this time or later. */
  readonly since?: number | undefined;
  readonly after?: FeedbackPosition | undefined;
  readonly limit: number;
}

export interface FeedbackPage {
  /** What was changed last first. */
  readonly feedback: readonly Feedback[];
  readonly next: FeedbackPosition | undefined;
}

/** One row for each person and message. */
export interface FeedbackStore {
  /** Replaces what the person said of the message before. `undefined` where there is no such thread. */
  put(feedback: NewFeedback): Promise<Feedback | undefined>;
  /** `false` where there was none. */
  remove(thread: ThreadRef, messageId: string, author: string | undefined): Promise<boolean>;
  list(scope: ThreadScope, query: FeedbackQuery): Promise<FeedbackPage>;
  /** Gives what was said of these messages to the thread that this one became. */
  moveThread(from: ThreadRef, to: ThreadRef, messageIds: readonly string[]): Promise<void>;
  /** To be called when the thread is no longer listed, so that nothing is put after it. */
  deleteThread(thread: ThreadRef): Promise<void>;
  /** Also what the subject said of other people's messages. */
  deleteAccount(account: string, subject?: string): Promise<void>;
}
