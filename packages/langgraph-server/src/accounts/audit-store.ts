import { inTransaction, type PostgresDatabase, subjectKey } from "@throughline/thread-log";
import type { BadRow } from "../operations/observer.js";
import { ACTIONS, type Action, isAction } from "./actions.js";
import {
  type AuditEntry,
  auditDetailsSchema,
  type NewAuditEntry,
  parseDetails,
  withoutContent,
} from "./audit-entry.js";

/** The position of a page's end: entries are in order of time, then of id. */
export interface AuditPosition {
  readonly at: number;
  readonly id: string;
}

export interface AuditQuery {
  readonly action?: Action | undefined;
  readonly subject?: string | undefined;
  readonly order: "newest" | "oldest";
  readonly after?: AuditPosition | undefined;
  readonly limit: number;
}

export interface AuditPage {
  readonly entries: readonly AuditEntry[];
  readonly next: AuditPosition | undefined;
}

/** The scope of a deletion. */
export interface AuditScope {
  readonly account: string;
  /** `undefined` is every subject, the empty one what all of them share. */
  readonly subject: string | undefined;
  readonly threadId?: string | undefined;
}

/** Which entries are retained after the deletion of the data they are about. */
export const AUDIT_RETENTIONS = ["none", "receipts", "all"] as const;
export type AuditRetention = (typeof AUDIT_RETENTIONS)[number];

/** An entry that waits to be written. */
export interface PendingEntry {
  readonly entry: NewAuditEntry;
  /** The action's age by the process' clock: the entry may have waited for the store. */
  readonly ageMs: number;
}

/** Adds and reads entries. Only deletion and retention remove any. */
export interface AuditStore {
  /** Safe to repeat: an entry is known by its id. */
  append(entries: readonly PendingEntry[]): Promise<void>;
  /** `next` is where the next page begins, if there is one. */
  list(account: string, query: AuditQuery): Promise<AuditPage>;
  /** Applies `keep` to entries in scope that are not newer than `until`. */
  deleteScope(scope: AuditScope, until: number, keep: AuditRetention): Promise<void>;
  /** Deletes at most `limit` entries that are older. Gives how many there were. */
  prune(olderThanMs: number, limit: number): Promise<number>;
  onBadRow(listener: (row: BadRow) => void): void;
}

export const DELETION_ACTIONS: ReadonlySet<Action> = new Set(["delete_thread", "delete_data"]);

/** Whether an entry of something deleted goes, stays without content or stays as it is. */
export function retentionOf(
  { subject, threadId }: AuditScope,
  action: Action,
  keep: AuditRetention,
): "deleted" | "redacted" | "kept" {
  if (keep === "all") return "kept";
  if (keep === "none") return "deleted";
  // Else a person could take their approvals out of the record by deleting their threads or themselves.
  const isOfAccount = subject === undefined && threadId === undefined;
  return !isOfAccount || DELETION_ACTIONS.has(action) ? "redacted" : "deleted";
}

interface Row {
  readonly account: string;
  readonly at: Date;
  readonly entry_id: string;
  readonly subject: string;
  readonly action: string;
  readonly details: string;
}

const COLUMNS = "account, at, entry_id, subject, action, details";
/** Matches a person's actions, and actions on their threads. */
const IN_SCOPE = `account = $1 and ($2::text is null or subject = $2 or thread_subject = $2)
  and ($3::text is null or thread_id = $3) and at <= $4::timestamptz`;
const REDACTED_AT_ONCE = 500;

export function createPostgresAuditStore({ pool, schema }: PostgresDatabase): AuditStore {
  const table = `${schema}.audit`;
  let badRow: (row: BadRow) => void = () => {};

  function read(rows: readonly Row[]): AuditEntry[] {
    return rows.flatMap((row) => {
      const details = parseDetails(row.action, row.details);
      if (!details) {
        badRow({ table: "audit", id: row.entry_id });
        return [];
      }
      const { account, subject, at, entry_id: id } = row;
      return [{ ...details, id, account, subject: subject === "" ? undefined : subject, at: at.getTime() }];
    });
  }

  async function deleteRows(scope: AuditScope, until: number, actions: readonly Action[]): Promise<void> {
    // Locks nothing but the rows it deletes, which nothing else changes.
    await pool.query(`delete from ${table} where ${IN_SCOPE} and action = any($5::text[])`, [
      ...scopeKey(scope, until),
      actions,
    ]);
  }

  async function redactRows(scope: AuditScope, until: number, actions: readonly Action[]): Promise<void> {
    let after = "";
    for (;;) {
      const page = await inTransaction(pool, async (client) => {
        // Locks the page's rows until they are rewritten, so that two instances that delete do it one after the other.
        const { rows } = await client.query<Row>(
          `select ${COLUMNS} from ${table} where ${IN_SCOPE} and action = any($5::text[]) and entry_id > $6
           order by entry_id limit $7 for update`,
          [...scopeKey(scope, until), actions, after, REDACTED_AT_ONCE],
        );
        await client.query(
          `update ${table} t set details = r.details
           from unnest($1::text[], $2::text[]) as r (entry_id, details) where t.entry_id = r.entry_id`,
          [rows.map((row) => row.entry_id), rows.map(redactedText)],
        );
        return rows;
      });
      after = page.at(-1)?.entry_id ?? "";
      if (page.length < REDACTED_AT_ONCE) return;
    }
  }

  return {
    async append(pending) {
      // Locks nothing that exists. Times are whole milliseconds, as positions on the wire are, so that a page ends between two
      // entries. An entry whose first acknowledgement was lost is there already and stays as it is.
      await pool.query(
        `insert into ${table} (account, at, entry_id, subject, action, thread_subject, thread_id, details)
         select account, date_trunc('milliseconds', clock_timestamp() - age * interval '1 millisecond'), entry_id, subject, action, thread_subject,
           thread_id, details
         from unnest($1::text[], $2::double precision[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
           as e (account, age, entry_id, subject, action, thread_subject, thread_id, details)
         on conflict (entry_id) do nothing`,
        [
          pending.map(({ entry }) => entry.account),
          pending.map(({ ageMs }) => ageMs),
          pending.map(({ entry }) => entry.id),
          pending.map(({ entry }) => subjectKey(entry)),
          pending.map(({ entry }) => entry.action),
          pending.map(({ entry }) => (entry.thread ? subjectKey(entry.thread) : (entry.person ?? null))),
          pending.map(({ entry }) => entry.thread?.threadId ?? null),
          // Parsing leaves what has a column of its own out.
          pending.map(({ entry }) => JSON.stringify(auditDetailsSchema.parse(entry))),
        ],
      );
    },
    async list(account, { action, subject, order, after, limit }) {
      const [sign, direction] = order === "oldest" ? [">", "asc"] : ["<", "desc"];
      const { rows } = await pool.query<Row>(
        `select ${COLUMNS} from ${table}
         where account = $1 and ($2::text is null or action = $2) and ($3::text is null or subject = $3)
           and ($4::timestamptz is null or (at, entry_id) ${sign} ($4, $5::text))
         order by at ${direction}, entry_id ${direction} limit $6`,
        [
          account,
          action ?? null,
          subject ?? null,
          after ? new Date(after.at) : null,
          after?.id ?? null,
          limit + 1,
        ],
      );
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      return {
        entries: read(page),
        next: rows.length > limit && last ? { at: last.at.getTime(), id: last.entry_id } : undefined,
      };
    },
    async deleteScope(scope, until, keep) {
      const actions = Object.keys(ACTIONS).filter(isAction);
      const ofFate = (fate: ReturnType<typeof retentionOf>) =>
        actions.filter((action) => retentionOf(scope, action, keep) === fate);
      const deleted = ofFate("deleted");
      const redacted = ofFate("redacted");
      if (deleted.length > 0) await deleteRows(scope, until, deleted);
      if (redacted.length > 0) await redactRows(scope, until, redacted);
    },
    async prune(olderThanMs, limit) {
      // Rows that another instance is pruning are skipped instead of waited for. Materialized: joined to the rows it deletes,
      // the limit would be evaluated again for each of them in some plans.
      const { rowCount } = await pool.query(
        `with past as materialized (
           select entry_id from ${table} where at < clock_timestamp() - $1::double precision * interval '1 millisecond'
           limit $2 for update skip locked)
         delete from ${table} entry using past where entry.entry_id = past.entry_id`,
        [olderThanMs, limit],
      );
      return rowCount ?? 0;
    },
    onBadRow(listener) {
      badRow = listener;
    },
  };
}

function scopeKey({ account, subject, threadId }: AuditScope, until: number): readonly unknown[] {
  // The thread id encodes its owner.
  return [account, threadId === undefined ? (subject ?? null) : null, threadId ?? null, new Date(until)];
}

/** The redacted details. Details that can't be parsed may hold anything, so nothing of them is retained. */
function redactedText({ action, details }: Row): string {
  const read = parseDetails(action, details);
  return read ? JSON.stringify(auditDetailsSchema.parse(withoutContent(read))) : "{}";
}
