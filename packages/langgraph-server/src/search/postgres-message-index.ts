import { type PostgresDatabase, subjectKey, type ThreadRef } from "@throughline/thread-log";
import type { FindableMessage, MessageIndex } from "./message-index.js";
import { searchWords } from "./search-words.js";
import { putSaid } from "./sql/put-said.js";
import { searchSaid } from "./sql/search-said.js";

interface Row {
  readonly account: string;
  readonly subject: string;
  readonly thread_id: string;
  readonly message_id: string;
  readonly role: FindableMessage["role"];
  readonly said: string;
}

export function createPostgresMessageIndex({
  pool,
  schema,
}: Pick<PostgresDatabase, "pool" | "schema">): MessageIndex {
  return {
    async put(changes) {
      const said = changes.flatMap(({ thread, said: all, saidAt }) =>
        all.map((message) => ({ thread, saidAt, ...message })),
      );
      const gone = changes.flatMap(({ thread, gone: ids }) =>
        ids.map((messageId) => ({ thread, messageId })),
      );
      if (said.length + gone.length === 0) return;
      await pool.query(putSaid(schema), [
        ...keysOf(said),
        said.map(({ role }) => role),
        said.map((message) => message.said.replaceAll("\u0000", "")),
        said.map((message) => [markOf(message.thread.account), ...searchWords(message.said)].join(" ")),
        ...keysOf(gone),
        said.map(({ saidAt }) => (saidAt === undefined ? null : new Date(saidAt))),
      ]);
    },
    async search(scope, { graphId, words, limit }) {
      const subjects = scope.withShared ? [subjectKey(scope), ""] : [subjectKey(scope)];
      const { rows } = await pool.query<Row>(searchSaid(schema), [
        [`'${markOf(scope.account)}'`, ...words.map((word) => `'${word}':*`)].join(" & "),
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

/** The account as a word that no text has. Its name is `[A-Za-z0-9_-]`, so it needs no quoting. */
function markOf(account: string): string {
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
