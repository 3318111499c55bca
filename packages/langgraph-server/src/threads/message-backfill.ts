import type { Clock, GraphStatePort } from "@throughline/ai-core";
import { type PostgresDatabase, subjectKey, type ThreadRef } from "@throughline/thread-log";
import type { ServiceObserver } from "../operations/observer.js";
import { poll } from "../operations/poller.js";
import { type IndexChange, type MessageIndex, toIndexedMessage } from "./message-index.js";

/** A thread that began before messages were indexed. */
interface OldThread {
  readonly thread: ThreadRef;
  readonly graphId: string;
  /** Milliseconds since the Unix epoch. */
  readonly lastActivityAt: number;
}

/** Stores how far the messages of old threads are indexed. Survives restarts; one instance at a time continues it. */
export interface MessageBackfillStore {
  /** The next threads, none where all are done; `undefined` while another instance has them. */
  next(limit: number): Promise<readonly OldThread[] | undefined>;
  /** All up to this thread are indexed; without one, all there are. */
  finish(last: ThreadRef | undefined): Promise<void>;
}

/** An instance that dies is followed by another after this time. */
const CLAIM_MS = 60_000;

interface Position {
  readonly account: string;
  readonly subject: string;
  readonly thread_id: string;
  readonly created_before: Date;
}

interface Row extends Omit<Position, "created_before"> {
  readonly graph_id: string;
  readonly last_activity_at: Date;
}

export function createMessageBackfillStore({
  pool,
  schema,
}: Pick<PostgresDatabase, "pool" | "schema">): MessageBackfillStore {
  const table = `${schema}.said_backfill`;
  return {
    async next(limit) {
      const { rows: claimed } = await pool.query<Position>(claimBackfill(schema), [CLAIM_MS]);
      const [at] = claimed;
      if (!at) {
        const { rowCount } = await pool.query(`select from ${table} where not is_done`);
        return rowCount === 0 ? [] : undefined;
      }
      const position = [at.account, at.subject, at.thread_id, at.created_before];
      const { rows } = await pool.query<Row>(listBackfill(schema), [...position, limit]);
      return rows.map((row) => ({
        thread: {
          account: row.account,
          ...(row.subject !== "" && { subject: row.subject }),
          threadId: row.thread_id,
        },
        graphId: row.graph_id,
        lastActivityAt: row.last_activity_at.getTime(),
      }));
    },
    async finish(last) {
      // Once done it names no account.
      if (!last)
        await pool.query(
          `update ${table} set is_done = true, account = '', subject = '', thread_id = '', claimed_until = null`,
        );
      else
        await pool.query(
          `update ${table} set account = $1, subject = $2, thread_id = $3, claimed_until = null`,
          [last.account, subjectKey(last), last.threadId],
        );
    },
  };
}

export interface MessageBackfillOptions {
  readonly store: MessageBackfillStore;
  readonly state: Pick<GraphStatePort, "getState">;
  readonly index: Pick<MessageIndex, "put">;
  readonly clock: Clock;
  /** In [0, 1): spreads instances that started together. */
  readonly random: () => number;
  readonly observer: Pick<ServiceObserver, "failed">;
  /** Threads at a time. */
  readonly batch?: number;
  /** Between two batches. */
  readonly pauseMs?: number;
}

const BATCH = 20;
const PAUSE_MS = 250;
const RETRY_MS = 60_000;

/**
 * Indexes messages from before the index existed, some threads at a time with pauses between, by the checkpoints of the
 * threads. A thread that can't be read is passed over. Ends by itself.
 */
export function startMessageBackfill(options: MessageBackfillOptions): { close(): Promise<void> } {
  const { store, index, clock, random, observer, batch = BATCH, pauseMs = PAUSE_MS } = options;
  const poller = poll({
    clock,
    random,
    everyMs: RETRY_MS,
    firstAfterMs: pauseMs * random(),
    async once() {
      const threads = await store.next(batch);
      if (!threads) return undefined;
      await index.put((await Promise.all(threads.map(readThread))).flat());
      await store.finish(threads.at(-1)?.thread);
      if (threads.length > 0) return pauseMs;
      // Not waited for: it waits for this poll.
      void poller.close();
      return undefined;
    },
    failed: (error) =>
      observer.failed("What was said earlier could not be indexed; it is tried again.", error),
  });

  async function readThread({ thread, graphId, lastActivityAt }: OldThread): Promise<readonly IndexChange[]> {
    try {
      const checkpoint = await options.state.getState({ graphId, threadId: thread.threadId });
      const messages = checkpoint?.messages?.flatMap(toIndexedMessage) ?? [];
      return [{ thread, said: messages, gone: [], writtenAt: lastActivityAt }];
    } catch (error) {
      observer.failed("What was said in a thread can't be searched for.", error);
      return [];
    }
  }

  return poller;
}
/** Takes the backfill for `$1` milliseconds, unless another instance has it or it is done. Locks its only row. */
function claimBackfill(schema: string): string {
  return `
update ${schema}.said_backfill set claimed_until = clock_timestamp() + $1::bigint * interval '1 millisecond'
where not is_done and (claimed_until is null or claimed_until < clock_timestamp())
returning account, subject, thread_id, created_before`;
}
/** The next threads after a position in the order of their keys, of those that began before the index was made. Locks nothing. */
function listBackfill(schema: string): string {
  return `
select account, subject, thread_id, graph_id, last_activity_at from ${schema}.thread_listings
where (account, subject, thread_id) > ($1, $2, $3) and created_at <= $4
order by account, subject, thread_id limit $5`;
}
