import { randomBytes } from "node:crypto";
import type pg from "pg";
import type {
  CommittedEntries,
  EntryBus,
  LogStore,
  StoreAppend,
  StoreAppendResult,
} from "../../log/log-store.js";
import type { OpenResult } from "../../log/thread-log.js";
import { subjectKey, type ThreadRef, threadTag } from "../../thread-ref.js";
import type { PostgresDatabase } from "../database.js";
import { deleteThreads } from "../delete.js";
import { type FinishedRow, findNext } from "../registry/finish.js";
import {
  appendAndFinishStatement,
  appendStatement,
  appendValues,
  appendWithTemplatesStatement,
  commitAroundLocks,
  finishValues,
  keysOf,
  lockedThreadsStatement,
  notTaken,
  parseMoved,
  type RefusalRow,
  refusalStatement,
  taken,
  templateValues,
} from "./append.js";
import { createPostgresCompaction } from "./compaction.js";
import { createEntryEncoder, type EncodedAppend } from "./entry-templates.js";
import { listThreads, loadThread, type ReadRow, readQuery, readResults, readStatement } from "./read.js";
import { loadSnapshot, saveSnapshot } from "./snapshots.js";
import { findAging, findExcess, trimEntries } from "./trim.js";

interface CommitRow {
  readonly moved: string | null;
  readonly finished?: readonly FinishedRow[] | null;
}

export interface PostgresLogStoreOptions {
  /** Carries entries to the other instances. Without it the database notifies them which threads to read. */
  readonly bus?: EntryBus | undefined;
}

export function createPostgresLogStore(
  database: PostgresDatabase,
  { bus }: PostgresLogStoreOptions = {},
): LogStore {
  const { pool, writer, schema } = database;
  const append = { text: appendStatement(schema), name: `${schema}_append` };
  const appendWithTemplates = {
    text: appendWithTemplatesStatement(schema),
    name: `${schema}_append_with_templates`,
  };
  const appendAndFinish = { text: appendAndFinishStatement(schema), name: `${schema}_append_and_finish` };
  const encoder = createEntryEncoder();
  const read = { text: readStatement(schema), name: `${schema}_read` };

  async function open(thread: ThreadRef, token: bigint, stateKey: string | undefined): Promise<OpenResult> {
    const key = [thread.account, subjectKey(thread), thread.threadId];
    const { rows } = await pool.query<{ epoch: string; head: string }>(
      `insert into ${schema}.threads as t (account, subject, thread_id, epoch, fence, state_key)
       values ($1, $2, $3, $4, $5, coalesce($6, ''))
       on conflict (account, subject, thread_id) do update
       set fence = excluded.fence, deleted = false, state_key = coalesce($6, t.state_key)
       where excluded.fence > t.fence or (excluded.fence = t.fence and not t.deleted)
       returning epoch, head`,
      [...key, randomBytes(9).toString("base64url"), token.toString(), stateKey ?? null],
    );
    const row = rows[0];
    if (row) return { ok: true, head: { epoch: row.epoch, seq: Number(row.head) } };
    const { rows: refusing } = await pool.query<{ deleted: boolean }>(
      `select deleted from ${schema}.threads where account = $1 and subject = $2 and thread_id = $3`,
      key,
    );
    return { ok: false, reason: refusing[0]?.deleted ? "deleted" : "fenced" };
  }

  /** The plainest statement that does all that this commit needs. */
  function statementFor(batch: readonly StoreAppend[], encoded: readonly EncodedAppend[]): pg.QueryConfig {
    const values = appendValues(batch, encoded);
    if (batch.some(({ finish }) => finish !== undefined)) {
      return { ...appendAndFinish, values: [...values, ...templateValues(encoded), ...finishValues(batch)] };
    }
    if (encoded.every(({ templates }) => templates.length === 0)) return { ...append, values };
    return { ...appendWithTemplates, values: [...values, ...templateValues(encoded)] };
  }

  async function write(batch: readonly StoreAppend[]): Promise<readonly StoreAppendResult[]> {
    const encoded = batch.map((each) => encoder.encode(each));
    const { rows } = await database.commit<CommitRow>(statementFor(batch, encoded));
    const moved = parseMoved(rows[0]?.moved ?? null);
    const refused = batch.filter((_, index) => moved[index] === undefined);
    const reasons = refused.length > 0 ? await explain(refused) : new Map<StoreAppend, RefusalRow>();
    const results = batch.map((each, index) => {
      const row = moved[index];
      const own = encoded[index];
      // An earlier attempt may have written other templates.
      if (row && own) encoder.written(each, own);
      const result = row ? taken(each, row) : notTaken(each, reasons.get(each));
      // Compaction may drop the templates of a run that has ended.
      if (!result.ok || each.entries.some(({ endOfRun }) => endOfRun !== undefined)) encoder.forget(each);
      return result;
    });
    // Also for a commit that was there already: its first response was lost, and with it the notification.
    notifyOthers(
      batch.flatMap(({ thread, entries }, index) => {
        const result = results[index];
        return result?.ok ? [{ thread, entries, epoch: result.epoch, first: result.first }] : [];
      }),
    );
    const finished = rows[0]?.finished;
    return finished === undefined ? results : withNext(batch, results, finished ?? []);
  }

  function notifyOthers(commits: readonly CommittedEntries[]): void {
    if (bus) bus.publish(commits);
    else database.notifyOthers(commits.map(({ thread }) => threadTag(thread)));
  }

  /** Adds the run that waits after each run that ended. Reads again where the thread changed, or the response was lost. */
  async function withNext(
    batch: readonly StoreAppend[],
    results: readonly StoreAppendResult[],
    finished: readonly FinishedRow[],
  ): Promise<readonly StoreAppendResult[]> {
    const known = new Map(finished.filter(({ raced }) => !raced).map(({ ord, next }) => [ord - 1, next]));
    const unsure = batch.flatMap(({ finish }, index) =>
      finish && results[index]?.ok && !known.has(index) ? [finish.runId] : [],
    );
    const now = await findNext(writer, schema, unsure);
    return results.map((result, index) => {
      const runId = batch[index]?.finish?.runId;
      if (!result.ok || runId === undefined) return result;
      return { ...result, next: known.get(index) ?? now.get(runId)?.next ?? undefined };
    });
  }

  async function explain(refused: readonly StoreAppend[]): Promise<Map<StoreAppend, RefusalRow>> {
    const { rows } = await writer.query<RefusalRow>(refusalStatement(schema), keysOf(refused));
    const byOrd = new Map(rows.map((row) => [Number(row.ord), row]));
    return new Map(
      refused.flatMap((each, index) => {
        const row = byOrd.get(index + 1);
        return row ? [[each, row] as const] : [];
      }),
    );
  }

  async function findLocked(batch: readonly StoreAppend[]): Promise<ReadonlySet<StoreAppend>> {
    const { rows } = await writer.query<{ ord: number }>(
      lockedThreadsStatement(schema),
      keysOf(batch).slice(0, 3),
    );
    const ords = new Set(rows.map(({ ord }) => ord - 1));
    return new Set(batch.filter((_, index) => ords.has(index)));
  }

  return {
    committers: database.committers,
    open,
    commit: (batch) => commitAroundLocks({ write, findLocked }, batch),
    async read(requests, limit) {
      const { rows } = await pool.query<ReadRow>(readQuery(read.text, read.name, requests, limit));
      return readResults(requests.length, rows);
    },
    load: (thread, request) => loadThread(database, thread, request),
    async kept(thread, afterSeq, limit) {
      const { rows } = await pool.query<{ seq: string; body: string }>(
        // Terminals are always stored whole.
        `select e.seq, e.body from ${schema}.threads t join ${schema}.log_entries e using (log_id)
         where t.account = $1 and t.subject = $2 and t.thread_id = $3 and e.end_of_run is not null
           and e.seq > $4 and e.seq < t.floor
         order by e.seq desc limit $5`,
        [thread.account, subjectKey(thread), thread.threadId, afterSeq, limit],
      );
      return rows.reverse().map(({ seq, body }) => ({ seq: Number(seq), text: body }));
    },
    async terminal(thread, runId) {
      const { rows } = await pool.query<{ epoch: string; seq: string; body: string }>(
        `select t.epoch, e.seq, e.body from ${schema}.threads t join ${schema}.log_entries e using (log_id)
         where t.account = $1 and t.subject = $2 and t.thread_id = $3 and e.end_of_run = $4
         order by e.seq desc limit 1`,
        [thread.account, subjectKey(thread), thread.threadId, runId],
      );
      const row = rows[0];
      return row && { epoch: row.epoch, entry: { seq: Number(row.seq), text: row.body } };
    },
    snapshot: (thread, foldVersions, notAfter) => loadSnapshot(database, thread, foldVersions, notAfter),
    saveSnapshot: (thread, snapshot) => saveSnapshot(database, thread, snapshot),
    excess: (thread, policy) => findExcess(database, thread, policy),
    trim: (thread, epoch, through, maxTerminals) =>
      trimEntries(database, { thread, epoch, through, maxTerminals }),
    aging: (maxAgeMs, page) => findAging(database, maxAgeMs, page),
    compaction: createPostgresCompaction(database),
    async deleteThread({ account, subject, threadId }) {
      return (await deleteThreads(database, { account, subject: subject ?? "", threadId })) === 1;
    },
    deleteAccount: (account, subject) => deleteThreads(database, { account, subject }),
    threads: (scope, page) => listThreads(database, scope, page),
    subscribe(listener) {
      const stopListening = database.onWake((message) => {
        if (message.kind === "all" || message.kind === "threads") listener(message);
      });
      const leaveBus = bus?.subscribe(listener);
      return () => {
        stopListening();
        leaveBus?.();
      };
    },
  };
}
