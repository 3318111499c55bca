import type { LogEntry, LogPosition } from "@throughline/ai-core";
import type { ThreadFold } from "@throughline/reading";
import type { RecentEntries } from "./recent-entries.js";

/** Why a view follows its thread no longer. `gap`: the log was trimmed past what the view held. */
export type ViewEnd = "deleted" | "gap" | "shutting_down" | "failed" | "unused";

/** Told in order and synchronously, so that a listener sees the fold of exactly the entry it is told. */
export interface ViewListener {
  /** The fold includes the entry; `before` does not. */
  entry?(before: ThreadFold, entry: LogEntry): void;
  /** After all entries of one batch were applied. */
  applied?(): void;
  ended?(why: ViewEnd): void;
}

/**
 * A thread as this instance follows it: its fold, its position in the log, and its last entries. Everything on the instance
 * that asks what a thread shows (starts, drivers, subscribers, polls) reads the same view.
 */
export interface ThreadView {
  /**
   * Resolves once the fold stands at the view's position, or the view has ended. Never rejects. To be awaited before anything
   * else is read: an idle thread's fold is let go after a while, and loaded again when it is asked for.
   */
  ready(): Promise<void>;
  readonly recent: RecentEntries;
  fold(): ThreadFold;
  position(): LogPosition | undefined;
  /** Resolves when the fold includes this position, or never will. */
  reached(position: LogPosition | undefined): Promise<void>;
  listen(listener: ViewListener): () => void;
  endedWith(): ViewEnd | undefined;
  end(why: ViewEnd): void;
}
