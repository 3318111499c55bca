import type { GraphFinal, Message } from "@throughline/ai-core";
import { isConversation, type ThreadFold } from "@throughline/reading";
import type { RunRecord } from "@throughline/thread-log";
import { type FindableMessage, MAX_SAID, type MessageIndex, type SaidChange } from "./message-index.js";

/** Notes what runs said, so that it can be found. Never delays a run, and never fails one. */
export interface SaidWriter {
  note(change: SaidChange): void;
  /** Resolves when everything is written that will be. */
  close(): Promise<void>;
}

export interface SaidWriterOptions {
  readonly index: Pick<MessageIndex, "put">;
  readonly onError: (error: unknown) => void;
}

/** Changes that wait while the store is slow; beyond it the oldest are dropped, and found again by their thread's title only. */
const MAX_WAITING = 1_000;
const PER_WRITE = 50;

/** One statement at a time, with all that came meanwhile. */
export function createSaidWriter({ index, onError }: SaidWriterOptions): SaidWriter {
  let waiting: SaidChange[] = [];
  let writing: Promise<void> | undefined;

  async function writeAll(): Promise<void> {
    while (waiting.length > 0) {
      const changes = waiting.slice(0, PER_WRITE);
      waiting = waiting.slice(PER_WRITE);
      try {
        await index.put(changes);
      } catch (error) {
        onError(error);
      }
    }
    writing = undefined;
  }

  return {
    note(change) {
      if (change.said.length + change.gone.length === 0) return;
      waiting.push(change);
      if (waiting.length > MAX_WAITING) waiting.shift();
      writing ??= writeAll();
    },
    async close() {
      await writing;
    },
  };
}

/**
 * What a run changed in its thread's conversation, by the checkpoint that it left. What an earlier attempt showed, or what the
 * run took back and said again, is new as well.
 */
export function saidBy(
  { thread, runId }: Pick<RunRecord, "thread" | "runId">,
  { messages: before }: Pick<ThreadFold, "messages">,
  withdrawn: readonly string[],
  { messages }: Pick<GraphFinal, "messages">,
): SaidChange {
  if (!messages) return { thread, said: [], gone: [] };
  const kept = before.filter(({ id, run_id }) => run_id !== runId && !withdrawn.includes(id));
  const known = new Set(kept.map(({ id }) => id));
  const now = new Set(messages.map(({ id }) => id));
  return {
    thread,
    said: messages.filter(({ id }) => !known.has(id)).flatMap(toFindable),
    gone: before.filter((message) => isConversation(message) && !now.has(message.id)).map(({ id }) => id),
  };
}

/** The message as it can be found, where it can. */
export function toFindable({ id, role, content }: Message): FindableMessage[] {
  if (role !== "user" && role !== "assistant") return [];
  const text =
    typeof content === "string"
      ? content
      : content.map((part) => (typeof part.text === "string" ? part.text : "")).join(" ");
  const said = text.trim().slice(0, MAX_SAID);
  return said === "" ? [] : [{ messageId: id, role, said }];
}
