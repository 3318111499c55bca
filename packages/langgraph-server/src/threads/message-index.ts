import type { GraphFinal, Message } from "@throughline/ai-core";
import { isConversation, type ThreadProjection } from "@throughline/reading";
import {
  type PostgresDatabase,
  type RunRecord,
  subjectKey,
  type ThreadRef,
  type ThreadScope,
} from "@throughline/thread-log";

/** A message as the index stores it. */
interface IndexedMessage {
  readonly messageId: string;
  readonly role: "user" | "assistant";
  /** The beginning of its text, at most `MAX_INDEXED_CHARACTERS` characters. */
  readonly said: string;
}

const MAX_INDEXED_CHARACTERS = 8_000;

/** A change of a thread's conversation: messages to index and to remove. */
export interface IndexChange {
  readonly thread: ThreadRef;
  readonly said: readonly IndexedMessage[];
  /** Messages that are no part of it any more. */
  readonly gone: readonly string[];
  /** When the messages were written, in milliseconds since the Unix epoch; now where it is absent. */
  readonly writtenAt?: number;
}

export interface FoundMessage extends IndexedMessage {
  readonly thread: ThreadRef;
}

export interface MessageSearch {
  readonly graphId?: string | undefined;
  /** Each is the beginning of a word that the message has. */
  readonly words: readonly string[];
  /** Threads at most. */
  readonly limit: number;
}

/** The messages of conversations, by their words. */
export interface MessageIndex {
  /** Changes of threads that are not listed are passed over. */
  put(changes: readonly IndexChange[]): Promise<void>;
  /** The newest match of each thread, newest first. */
  search(scope: ThreadScope, search: MessageSearch): Promise<readonly FoundMessage[]>;
  /** To be called when the thread is no longer listed, so that nothing is put after it. */
  deleteThread(thread: ThreadRef): Promise<void>;
  deleteAccount(account: string, subject?: string): Promise<void>;
}

interface Row {
  readonly account: string;
  readonly subject: string;
  readonly thread_id: string;
  readonly message_id: string;
  readonly role: IndexedMessage["role"];
  readonly said: string;
}

export function createPostgresMessageIndex({
  pool,
  schema,
}: Pick<PostgresDatabase, "pool" | "schema">): MessageIndex {
  return {
    async put(changes) {
      const added = changes.flatMap(({ thread, said: all, writtenAt }) =>
        all.map((message) => ({ thread, writtenAt, ...message })),
      );
      const gone = changes.flatMap(({ thread, gone: ids }) =>
        ids.map((messageId) => ({ thread, messageId })),
      );
      if (added.length + gone.length === 0) return;
      await pool.query(putMessagesStatement(schema), [
        ...keysOf(added),
        added.map(({ role }) => role),
        added.map((message) => message.said.replaceAll("\u0000", "")),
        added.map((message) =>
          [accountToken(message.thread.account), ...searchWords(message.said)].join(" "),
        ),
        ...keysOf(gone),
        added.map(({ writtenAt }) => (writtenAt === undefined ? null : new Date(writtenAt))),
      ]);
    },
    async search(scope, { graphId, words, limit }) {
      const subjects = scope.withShared ? [subjectKey(scope), ""] : [subjectKey(scope)];
      const { rows } = await pool.query<Row>(searchMessagesStatement(schema), [
        [`'${accountToken(scope.account)}'`, ...words.map((word) => `'${word}':*`)].join(" & "),
        scope.account,
        scope.everySubject ? null : subjects,
        graphId ?? null,
        limit,
      ]);
      return rows.map((row) => ({
        thread: {
          account: row.account,
          ...(row.subject !== "" && { subject: row.subject }),
          threadId: row.thread_id,
        },
        messageId: row.message_id,
        role: row.role,
        said: row.said,
      }));
    },
    async deleteThread(thread) {
      await pool.query(`delete from ${schema}.said where account = $1 and subject = $2 and thread_id = $3`, [
        thread.account,
        subjectKey(thread),
        thread.threadId,
      ]);
    },
    async deleteAccount(account, subject) {
      await pool.query(
        `delete from ${schema}.said where account = $1 and ($2::text is null or subject = $2)`,
        [account, subject ?? null],
      );
    },
  };
}

/** The account as a token that no text has. Its name is `[A-Za-z0-9_-]`, so it needs no quoting. */
function accountToken(account: string): string {
  return `@${account}`;
}

function keysOf(
  messages: readonly { readonly thread: ThreadRef; readonly messageId: string }[],
): readonly (readonly string[])[] {
  return [
    messages.map(({ thread }) => thread.account),
    messages.map(({ thread }) => subjectKey(thread)),
    messages.map(({ thread }) => thread.threadId),
    messages.map(({ messageId }) => messageId),
  ];
}

/** Indexes the messages of runs in the background. Never delays a run, and never fails one. */
export interface MessageIndexer {
  note(change: IndexChange): void;
  /** Resolves when everything is written that will be. */
  close(): Promise<void>;
}

export interface MessageIndexerOptions {
  readonly index: Pick<MessageIndex, "put">;
  readonly onError: (error: unknown) => void;
}

/** Changes that wait while the store is slow; beyond it the oldest are dropped, and found again by their thread's title only. */
const MAX_WAITING = 1_000;
const PER_WRITE = 50;

/** Writes one statement at a time, with all changes that came meanwhile. */
export function createMessageIndexer({ index, onError }: MessageIndexerOptions): MessageIndexer {
  let waiting: IndexChange[] = [];
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
 * The messages that a run added to and removed from its thread, by the checkpoint that it left. Those that an earlier attempt
 * showed, or that the run retracted and wrote again, count as new.
 */
export function indexChangesOf(
  { thread, runId }: Pick<RunRecord, "thread" | "runId">,
  { messages: before }: Pick<ThreadProjection, "messages">,
  withdrawn: readonly string[],
  { messages }: Pick<GraphFinal, "messages">,
): IndexChange {
  if (!messages) return { thread, said: [], gone: [] };
  const unchanged = before.filter(({ id, run_id }) => run_id !== runId && !withdrawn.includes(id));
  const known = new Set(unchanged.map(({ id }) => id));
  const now = new Set(messages.map(({ id }) => id));
  return {
    thread,
    said: messages.filter(({ id }) => !known.has(id)).flatMap(toIndexedMessage),
    gone: before.filter((message) => isConversation(message) && !now.has(message.id)).map(({ id }) => id),
  };
}

/** The message as the index stores it; empty for other roles and messages without text. */
export function toIndexedMessage({ id, role, content }: Message): IndexedMessage[] {
  if (role !== "user" && role !== "assistant") return [];
  const text =
    typeof content === "string"
      ? content
      : content.map((part) => (typeof part.text === "string" ? part.text : "")).join(" ");
  const indexed = text.trim().slice(0, MAX_INDEXED_CHARACTERS);
  return indexed === "" ? [] : [{ messageId: id, role, said: indexed }];
}
/** Scripts that put no space between words: each character counts as a word. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;
const MAX_WORD = 40;

/**
 * The words of a text, each once, in lower case. Made here and not by the database, whose idea of a word depends on its
 * configuration.
 */
export function searchWords(text: string): readonly string[] {
  const found =
    text
      .normalize("NFKC")
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  const words = found.flatMap((word) => (UNSPACED.test(word) ? Array.from(word) : [word.slice(0, MAX_WORD)]));
  return [...new Set(words)];
}

const AROUND = 60;

/** The part of a text around the first of these words, on one line. */
export function snippetOf(text: string, words: readonly string[]): string {
  const line = text.replace(/\s+/gu, " ").trim();
  const lower = line.toLowerCase();
  const matches = words.map((word) => lower.indexOf(word)).filter((at) => at >= 0);
  const at = matches.length > 0 ? Math.min(...matches) : 0;
  const from = Math.max(0, at - AROUND);
  const cut = Array.from(line.slice(from, at + 2 * AROUND)).join("");
  return `${from > 0 ? "…" : ""}${cut.trim()}${at + 2 * AROUND < line.length ? "…" : ""}`;
}
/**
 * Writes messages of threads that are listed, and deletes those that are gone. Locks the keys of the listings, so that a deletion,
 * which deletes the listing first, waits for the rows and then finds them. Words come as one text each, with blanks between.
 */
function putMessagesStatement(schema: string): string {
  return `
with changed as (
  select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $12::timestamptz[])
    as c (account, subject, thread_id, message_id, role, said, words, said_at)
), here as (
  select l.account, l.subject, l.thread_id, l.graph_id from ${schema}.thread_listings l
  where (l.account, l.subject, l.thread_id) in (select account, subject, thread_id from changed)
  order by l.account, l.subject, l.thread_id for key share
), removed as (
  delete from ${schema}.said s
  using unnest($8::text[], $9::text[], $10::text[], $11::text[]) as g (account, subject, thread_id, message_id)
  where s.account = g.account and s.subject = g.subject and s.thread_id = g.thread_id and s.message_id = g.message_id
)
insert into ${schema}.said (account, subject, thread_id, message_id, graph_id, role, said, words, said_at)
select c.account, c.subject, c.thread_id, c.message_id, here.graph_id, c.role, c.said,
  array_to_tsvector(string_to_array(c.words, ' ')), coalesce(c.said_at, clock_timestamp())
from changed c join here using (account, subject, thread_id)
order by c.account, c.subject, c.thread_id, c.message_id
on conflict (account, subject, thread_id, message_id) do update
set said = excluded.said, words = excluded.words`;
}
/**
 * Finds the newest message with all words in each thread in scope. Locks nothing. The account is one of the words, so the index
 * gives this account's messages only; what is left is sorted.
 */
function searchMessagesStatement(schema: string): string {
  return `
select * from (
  select distinct on (subject, thread_id) account, subject, thread_id, message_id, role, said, said_at
  from ${schema}.said
  where words @@ $1::tsquery and account = $2 and ($3::text[] is null or subject = any($3))
    and ($4::text is null or graph_id = $4)
  order by subject, thread_id, said_at desc, message_id
) newest order by said_at desc, subject, thread_id limit $5`;
}
