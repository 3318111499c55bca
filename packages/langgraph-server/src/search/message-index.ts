import type { ThreadRef, ThreadScope } from "@throughline/thread-log";

/** A message as it can be found. */
export interface FindableMessage {
  readonly messageId: string;
  readonly role: "user" | "assistant";
  /** Its beginning, at most `MAX_SAID` characters. */
  readonly said: string;
}

export const MAX_SAID = 8_000;

/** What became of a thread's conversation. */
export interface SaidChange {
  readonly thread: ThreadRef;
  readonly said: readonly FindableMessage[];
  /** Messages that are no part of it any more. */
  readonly gone: readonly string[];
  /** When it was said, in milliseconds since the Unix epoch; now where it is absent. */
  readonly saidAt?: number;
}

export interface FoundMessage extends FindableMessage {
  readonly thread: ThreadRef;
}

export interface MessageSearch {
  readonly graphId?: string | undefined;
  /** Each is the beginning of a word that the message has. */
  readonly words: readonly string[];
  /** Threads at most. */
  readonly limit: number;
}

/** What was said in conversations, by its words. */
export interface MessageIndex {
  /** Changes of threads that are not listed are passed over. */
  put(changes: readonly SaidChange[]): Promise<void>;
  /** Of each thread the message that was said last, newest first. */
  search(scope: ThreadScope, search: MessageSearch): Promise<readonly FoundMessage[]>;
  /** To be called when the thread is no longer listed, so that nothing is put after it. */
  deleteThread(thread: ThreadRef): Promise<void>;
  deleteAccount(account: string, subject?: string): Promise<void>;
}
