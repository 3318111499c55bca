import type { JsonObject } from "@throughline/ai-core";
import type { PostgresDatabase } from "@throughline/thread-log";
import { z } from "zod";

/** The scope of an export: everything of an account, or of one subject of it. */
export interface ExportScope {
  readonly account: string;
  /** `undefined` is every subject. */
  readonly subject: string | undefined;
}

/** Kinds of rows that name an account; each is a file of the archive. */
export const ROW_KINDS = [
  "threads",
  "runs",
  "questions",
  "crons",
  "ticks",
  "files",
  "feedback",
  "receipts",
  "audit",
] as const;
export type RowKind = (typeof ROW_KINDS)[number];

export interface RowPage {
  readonly rows: readonly JsonObject[];
  /** Pass it as `after` for the next page; `undefined` on the last. */
  readonly next: string | undefined;
}

/**
 * Rows of an account by kind, as they are stored: one that can't be decoded is exported like any other. A row that names a
 * thread or a file has `threadId`, and `subject` (null: shared by the account).
 */
export interface AccountRows {
  page(kind: RowKind, scope: ExportScope, after?: string): Promise<RowPage>;
}

export async function* allRows(
  rows: AccountRows,
  kind: RowKind,
  scope: ExportScope,
): AsyncGenerator<JsonObject> {
  let after: string | undefined;
  do {
    const page = await rows.page(kind, scope, after);
    yield* page.rows;
    after = page.next;
  } while (after !== undefined);
}

const ROWS_PER_PAGE = 200;
const keySchema = z.array(z.string());

export function createPostgresAccountRows({ pool, schema }: PostgresDatabase): AccountRows {
  return {
    async page(kind, { account, subject }, after) {
      const { rows } = await pool.query<{ row: JsonObject; key: string[] }>(accountRows(schema, kind), [
        account,
        subject ?? null,
        ROWS_PER_PAGE,
        after === undefined ? null : keySchema.parse(JSON.parse(after)),
      ]);
      const last = rows.length < ROWS_PER_PAGE ? undefined : rows.at(-1);
      return { rows: rows.map(({ row }) => row), next: last && JSON.stringify(last.key) };
    },
  };
}

interface KindStatement {
  /** Rows of account $1 and subject $2 (null: all), with the columns of `key` and `row`. */
  readonly rows: (schema: string) => string;
  /** Orders the rows, one after another without a tie; an index begins with them. */
  readonly key: readonly (readonly [column: string, type: "text" | "bigint"])[];
}

const OWN = (alias: string) => `${alias}.account = $1 and ($2::text is null or ${alias}.subject = $2)`;
const THREAD = (alias: string) => `'threadId', ${alias}.thread_id, 'subject', nullif(${alias}.subject, '')`;

const KINDS: Readonly<Record<RowKind, KindStatement>> = {
  threads: {
    key: [
      ["subject", "text"],
      ["thread_id", "text"],
    ],
    rows: (schema) => `
      select k.subject, k.thread_id, jsonb_build_object(${THREAD("k")}, 'stateKey', t.state_key, 'graphId', l.graph_id,
        'name', l.thread_name, 'title', l.title, 'derivedTitle', l.derived_title, 'isArchived', l.archived,
        'status', l.status, 'createdAt', coalesce(l.created_at, t.created_at),
        'lastActivityAt', coalesce(l.last_activity_at, t.updated_at)) as row
      from (
        select account, subject, thread_id from ${schema}.threads t where ${OWN("t")} and not deleted and fence > 0
        union select account, subject, thread_id from ${schema}.thread_listings l where ${OWN("l")}
      ) k
      left join ${schema}.threads t using (account, subject, thread_id)
      left join ${schema}.thread_listings l using (account, subject, thread_id)`,
  },
  runs: {
    key: [
      ["subject", "text"],
      ["thread_id", "text"],
      ["arrival", "bigint"],
    ],
    rows: (schema) => `
      select r.subject, r.thread_id, r.arrival, jsonb_build_object('runId', r.run_id, 'clientRunId', r.alias,
        ${THREAD("r")}, 'graphId', r.graph_id, 'origin', r.origin_kind, 'originId', r.origin_id, 'status', r.status,
        'start', r.start, 'request', r.request, 'attempt', r.attempt, 'upstreamRunId', r.upstream_run_id,
        'createdAt', r.created_at, 'endedAt', r.ended_at) as row
      from ${schema}.runs r where ${OWN("r")}`,
  },
  questions: {
    key: [
      ["subject", "text"],
      ["thread_id", "text"],
      ["interrupt_id", "text"],
    ],
    rows: (schema) => `
      select i.subject, i.thread_id, i.interrupt_id, jsonb_build_object('interruptId', i.interrupt_id, ${THREAD("i")},
        'runId', i.run_id, 'answeredBy', i.answered_by, 'answer', i.answer) as row
      from ${schema}.interrupts i where ${OWN("i")}`,
  },
  crons: {
    key: [
      ["subject", "text"],
      ["cron_id", "text"],
    ],
    rows: (schema) => `
      select c.subject, c.cron_id, jsonb_build_object('id', c.cron_id, 'subject', nullif(c.subject, ''),
        'virtualKeyId', c.virtual_key_id, 'definition', c.definition, 'nextAt', c.next_at, 'createdAt', c.created_at,
        'updatedAt', c.updated_at) as row
      from ${schema}.crons c where ${OWN("c")}`,
  },
  ticks: {
    key: [
      ["subject", "text"],
      ["cron_id", "text"],
      ["tick_id", "text"],
    ],
    rows: (schema) => `
      select c.subject, k.cron_id, k.tick_id, jsonb_build_object('cronId', k.cron_id, 'id', k.tick_id,
        'subject', nullif(c.subject, ''), 'scheduledAt', k.scheduled_at, 'claimedAt', k.claimed_at, 'agent', k.agent,
        'threadName', k.thread_name, 'missed', k.missed, 'outcome', k.outcome) as row
      from ${schema}.crons c join ${schema}.cron_ticks k using (cron_id) where ${OWN("c")}`,
  },
  files: {
    key: [
      ["subject", "text"],
      ["thread_id", "text"],
      ["attachment_id", "text"],
    ],
    rows: (schema) => `
      select a.subject, a.thread_id, a.attachment_id, jsonb_build_object('id', a.attachment_id, ${THREAD("a")},
        'mimeType', a.mime_type, 'filename', a.filename, 'bytes', a.bytes, 'createdAt', a.created_at) as row
      from ${schema}.attachments a where ${OWN("a")}`,
  },
  feedback: {
    key: [["feedback_id", "text"]],
    rows: (schema) => `
      select f.feedback_id, jsonb_build_object('id', f.feedback_id, ${THREAD("f")}, 'graphId', f.graph_id,
        'threadName', f.thread_name, 'messageId', f.message_id, 'runId', f.run_id, 'author', nullif(f.author, ''),
        'value', f.value, 'note', f.note, 'createdAt', f.created_at, 'updatedAt', f.updated_at) as row
      from ${schema}.feedback f
      where f.account = $1 and ($2::text is null or f.subject = $2 or (f.author = $2 and f.author <> ''))`,
  },
  receipts: {
    key: [["deletion_id", "text"]],
    rows: (schema) => `
      select d.deletion_id, jsonb_build_object('id', d.deletion_id, 'subject', d.subject, 'threadHash', d.thread_hash,
        'askedBy', d.asked_by, 'counts', d.counts, 'requestedAt', d.requested_at, 'deletedAt', d.erased_at,
        'finishedAt', d.finished_at) as row
      from ${schema}.deletions d where ${OWN("d")}`,
  },
  audit: {
    key: [["entry_id", "text"]],
    rows: (schema) => `
      select a.entry_id, jsonb_build_object('id', a.entry_id, 'at', a.at, 'subject', nullif(a.subject, ''),
        'action', a.action, 'details', a.details) as row
      from ${schema}.audit a where ${OWN("a")}`,
  },
};

/** A page of $3 rows after the key in $4 (null: from the beginning), with the key of each. Locks nothing. */
function accountRows(schema: string, kind: RowKind): string {
  const { key, rows } = KINDS[kind];
  const columns = key.map(([column]) => column).join(", ");
  const after = key.map(([, type], index) => `($4::text[])[${index + 1}]::${type}`).join(", ");
  return `
select row, array[${key.map(([column]) => `${column}::text`).join(", ")}] as key from (${rows(schema)}) r
where $4::text[] is null or (${columns}) > (${after})
order by ${columns} limit $3`;
}
