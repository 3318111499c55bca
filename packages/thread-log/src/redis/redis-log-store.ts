import { StoreOutage } from "@throughline/ai-core";
import type pg from "pg";
import type {
  LogStore,
  RangeRequest,
  StoreAppend,
  StoreAppendResult,
  StoredRange,
  Wake,
} from "../port/log-store.js";
import type { OpenResult, Snapshot, TrimResult } from "../port/thread-log.js";
import type { ThreadRef } from "../port/thread-ref.js";
import { BULK_MS } from "../postgres/deadlines.js";
import { findNext, finishRuns } from "../postgres/finish-runs.js";
import { inTransaction } from "../postgres/in-transaction.js";
import type { PostgresDatabase } from "../postgres/open-postgres.js";
import { createPostgresLogStore } from "../postgres/postgres-log-store.js";
import { findAging } from "../postgres/retain-entries.js";
import { saveSnapshot as saveSnapshotRow } from "../postgres/snapshot-rows.js";
import { connectRedis } from "./redis-connection.js";
import { createSentMarks } from "./sent-marks.js";
import { createStreamRecovery, newEpoch } from "./stream-recovery.js";
import { namesOf } from "./thread-names.js";
import {
  type BurialScope,
  buryRows,
  countTerminals,
  ensureRow,
  findRows,
  lockLiving,
  lockRow,
  openRow,
  saveTerminals,
  type Terminal,
} from "./thread-rows.js";
import {
  type AppendAnswer,
  appendAll,
  excessOfStream,
  foldStream,
  readStreams,
  removeStreams,
  statesOf,
  trimStream,
} from "./thread-streams.js";
import { createWakeChannel } from "./wake-channel.js";

export interface RedisLogStoreOptions {
  readonly url: string;
  /** Where epochs, fences, snapshots and terminals are. Stays open when the store closes. */
  readonly database: PostgresDatabase;
}

export interface RedisLogStore extends LogStore {
  /** Rejects when Redis does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

const RECOVERIES_PER_COMMIT = 3;
const BURIED_AT_ONCE = 500;

/**
 * R22: the live log in Redis Streams, everything that must outlive it in PostgreSQL. An instance has two connections, one that
 * writes and one that reads and is woken, whatever the number of watchers.
 */
export async function openRedisLogStore({ url, database }: RedisLogStoreOptions): Promise<RedisLogStore> {
  const { pool, schema } = database;
  const [writer, reader] = await Promise.all([connectRedis(url), connectRedis(url)]);
  const wakes = await createWakeChannel(reader, writer, schema);
  const inPostgres = createPostgresLogStore(database);
  const sent = createSentMarks();
  const recovery = createStreamRecovery({ database, redis: writer, sent, wakes });

  async function open(thread: ThreadRef, token: bigint, stateKey: string | undefined): Promise<OpenResult> {
    const result = await inTransaction(pool, async (client): Promise<OpenResult & { renewed?: boolean }> => {
      await ensureRow(client, schema, thread, newEpoch());
      const row = await lockRow(client, schema, thread);
      if (!row) throw new StoreOutage(new Error("The thread's row is gone."));
      if (token < row.fence || (row.deleted && token === row.fence)) {
        return { ok: false, reason: row.deleted ? "deleted" : "fenced" };
      }
      const claimed = await recovery.claim(client, thread, row, token);
      if (claimed === "fenced") return { ok: false, reason: "fenced" };
      await openRow(client, schema, row, token, stateKey);
      return { ok: true, head: { epoch: claimed.epoch, seq: claimed.head }, renewed: claimed.renewed };
    });
    if (!result.ok) return result;
    if (result.renewed) await wakes.tellAll([namesOf(thread).tag]);
    return { ok: true, head: result.head };
  }

  async function commit(batch: readonly StoreAppend[]): Promise<readonly StoreAppendResult[]> {
    const results = new Map<StoreAppend, StoreAppendResult>();
    let left = batch;
    for (let round = 0; left.length > 0; round++) {
      if (round > RECOVERIES_PER_COMMIT) throw new StoreOutage(new Error("Redis keeps losing threads."));
      const answers = await send(left);
      const lost: StoreAppend[] = [];
      for (const [index, append] of left.entries()) {
        const answer = answers[index];
        if (answer?.kind === "ok") results.set(append, { ok: true, ...answer });
        else if (answer?.kind === "fenced") results.set(append, { ok: false, reason: "fenced" });
        else if ((await recovery.recover(append.thread, append.appendId)) === "there") lost.push(append);
        else results.set(append, { ok: false, reason: "deleted" });
      }
      left = lost;
    }
    await saveTerminals(database, terminalsOf(results));
    return finish(batch.map((append) => [append, results.get(append) ?? { ok: false, reason: "deleted" }]));
  }

  /**
   * After Redis, because PostgreSQL can't take part in its script. A commit that is tried again after the runs have ended
   * answers as it did then; a run that another driver holds by now is not ours to end.
   */
  async function finish(
    appended: readonly (readonly [StoreAppend, StoreAppendResult])[],
  ): Promise<readonly StoreAppendResult[]> {
    const ending = appended.flatMap(([{ token, finish: end }, result]) =>
      end && result.ok ? [{ ...end, token }] : [],
    );
    if (ending.length === 0) return appended.map(([, result]) => result);
    const outcomes = await finishRuns(database, ending);
    const byRun = new Map(ending.map(({ runId }, index) => [runId, outcomes[index]]));
    const ended = [...byRun].flatMap(([runId, outcome]) => (outcome?.ok ? [] : [runId]));
    const now = await findNext(pool, schema, ended);
    return appended.map(([{ finish: end }, result]) => {
      if (!end || !result.ok) return result;
      const outcome = byRun.get(end.runId);
      if (outcome?.ok) return { ...result, next: outcome.next };
      if (outcome?.reason === "fenced") return { ok: false, reason: "fenced" };
      return { ...result, next: now.get(end.runId)?.next ?? undefined };
    });
  }

  async function send(batch: readonly StoreAppend[]): Promise<readonly AppendAnswer[]> {
    // Known to be connected: from here on it counts as sent.
    writer.server();
    const takeBack = batch.map(({ thread, appendId }) => sent.sending(namesOf(thread).key, appendId));
    const answers = await appendAll(
      writer,
      batch,
      wakes.message(batch.map(({ thread }) => namesOf(thread).tag)),
    );
    answers.forEach(({ kind }, index) => {
      if (kind !== "ok") takeBack[index]?.();
    });
    return answers;
  }

  async function read(
    requests: readonly RangeRequest[],
    limit: number,
  ): Promise<readonly (StoredRange | undefined)[]> {
    const ranges = await readStreams(reader, requests, limit);
    const found = ranges.map((range) => range && { ...range, deleted: false });
    const missing = requests.filter((_, index) => found[index] === undefined);
    if (missing.length === 0) return found;
    const elsewhere = await readMissing(missing, limit);
    return found.map((range, index) => range ?? elsewhere.get(requests[index]));
  }

  async function readMissing(requests: readonly RangeRequest[], limit: number) {
    const rows = await findRows(
      database,
      requests.map(({ thread }) => thread),
    );
    const ranges = new Map<RangeRequest | undefined, StoredRange | undefined>();
    for (const [index, request] of requests.entries()) {
      const row = rows.get(index);
      if (row && !row.deleted && (await recovery.recover(request.thread)) === "there") {
        const [range] = await readStreams(writer, [request], limit);
        ranges.set(request, range && { ...range, deleted: false });
        continue;
      }
      // A stream is gone before its tombstone can be seen: found missing in between, it is deleted once the lock is free.
      const buried = row?.deleted ? row : (await findRows(database, [request.thread])).get(0);
      if (buried?.deleted) {
        ranges.set(request, { epoch: buried.epoch, head: 0, floor: 1, deleted: true, entries: [] });
      }
    }
    return ranges;
  }

  async function saveSnapshot(thread: ThreadRef, snapshot: Snapshot): Promise<boolean> {
    const { epoch, seq } = snapshot.position;
    const [state] = await statesOf(writer, [thread]);
    if (state?.epoch !== epoch || seq > state.head || seq + 1 < state.floor) return false;
    if (!(await saveSnapshotRow(database, thread, snapshot, { entriesElsewhere: true }))) return false;
    await foldStream(writer, thread, snapshot.position);
    return true;
  }

  /** PostgreSQL first: it bounds the cut by the newest snapshot, and a stream that was not cut yet only holds more. */
  async function trim(
    thread: ThreadRef,
    epoch: string,
    through: number,
    maxTerminals: number,
  ): Promise<TrimResult> {
    const [state] = await statesOf(writer, [thread]);
    if (state === undefined) return { dropped: 0, floor: 1 };
    if (state.epoch !== epoch) return { dropped: 0, floor: state.floor };
    const keptBefore = await countTerminals(database, thread, state.floor);
    const rows = await inPostgres.trim(thread, epoch, through, maxTerminals);
    const stream = await trimStream(writer, thread, epoch, rows.floor - 1);
    const keptAfter = await countTerminals(database, thread, stream.floor);
    return { dropped: stream.dropped + keptBefore - keptAfter, floor: stream.floor };
  }

  /** Under the rows' locks: a writer that finds its stream gone waits for them, and then finds the tombstone. */
  async function bury(scope: BurialScope): Promise<number> {
    const buryLiving = async (client: pg.PoolClient): Promise<ThreadRef[]> => {
      const living = await lockLiving(client, schema, scope, BURIED_AT_ONCE);
      if (living.length === 0) return [];
      const threads = living.map(({ thread }) => thread);
      await removeStreams(writer, threads);
      await buryRows(
        client,
        schema,
        living.map(({ logId }) => logId),
      );
      return threads;
    };
    const buried = await inTransaction(pool, buryLiving, { statementMs: BULK_MS });
    if (buried.length > 0) await wakes.tellAll(buried.map((thread) => namesOf(thread).tag));
    return buried.length;
  }

  return {
    committers: 1,
    open,
    commit,
    read,
    kept: (thread, afterSeq, limit) => inPostgres.kept(thread, afterSeq, limit),
    terminal: (thread, runId) => inPostgres.terminal(thread, runId),
    snapshot: inPostgres.snapshot,
    saveSnapshot,
    excess: (thread, policy) => excessOfStream(writer, thread, policy),
    trim,
    aging: (maxAgeMs, page) => findAging(database, maxAgeMs, page, { entriesElsewhere: true }),
    deleteThread: async ({ account, subject, threadId }) =>
      (await bury({ account, subject: subject ?? "", threadId })) === 1,
    async deleteAccount(account, subject) {
      let total = 0;
      for (let count = BURIED_AT_ONCE; count === BURIED_AT_ONCE; total += count) {
        count = await bury({ account, subject });
      }
      return total;
    },
    async threads(scope, page) {
      const { threads, next } = await inPostgres.threads(scope, page);
      const states = await statesOf(
        reader,
        threads.map(({ thread }) => thread),
      );
      const summaries = threads.map((summary, index) => {
        const state = states[index];
        if (state?.epoch !== summary.head.epoch) return summary;
        const updatedAt = Math.max(state.at, summary.createdAt);
        return { ...summary, head: { epoch: state.epoch, seq: state.head }, updatedAt };
      });
      return { threads: summaries, next };
    },
    subscribe: (listener: (wake: Wake) => void) => wakes.subscribe(listener),
    async ping() {
      await Promise.all([writer.send(["PING"]), reader.send(["PING"])]);
    },
    async close() {
      await Promise.all([writer.close(), reader.close()]);
    },
  };
}

function terminalsOf(results: ReadonlyMap<StoreAppend, StoreAppendResult>): Terminal[] {
  const terminals: Terminal[] = [];
  for (const [{ thread, entries }, result] of results) {
    if (!result.ok) continue;
    for (const [index, { endOfRun, text, bytes }] of entries.entries()) {
      if (endOfRun === undefined) continue;
      terminals.push({
        thread,
        epoch: result.epoch,
        seq: result.first + index,
        runId: endOfRun,
        text,
        bytes,
      });
    }
  }
  return terminals;
}
