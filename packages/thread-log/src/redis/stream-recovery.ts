import { randomBytes } from "node:crypto";
import { StoreOutage } from "@throughline/ai-core";
import type pg from "pg";
import type { ThreadRef } from "../port/thread-ref.js";
import { inTransaction } from "../postgres/in-transaction.js";
import type { PostgresDatabase } from "../postgres/open-postgres.js";
import type { RedisConnection } from "./redis-connection.js";
import type { SentMarks } from "./sent-marks.js";
import type { StreamState } from "./thread-line.js";
import { namesOf } from "./thread-names.js";
import { lockRow, renewRow, type ThreadRow } from "./thread-rows.js";
import { claimStream, keepStream, renewStream, statesOf } from "./thread-streams.js";
import type { WakeChannel } from "./wake-channel.js";

export interface StreamRecovery {
  /** Writes a writer's fence to Redis and learns the head in one step. Under the row's lock. */
  claim(client: pg.ClientBase, thread: ThreadRef, row: ThreadRow, token: bigint): Promise<Claimed | "fenced">;
  /**
   * For a thread that Redis does not know, or knew before it was restarted. `sendingAgain`: the append that found out.
   * Afterwards the stream is there in the row's epoch, which is a new one if anything was lost.
   */
  recover(thread: ThreadRef, sendingAgain?: string): Promise<"there" | "deleted">;
}

export interface Claimed {
  readonly epoch: string;
  readonly head: number;
  readonly renewed: boolean;
}

export interface RecoveryDeps {
  readonly database: PostgresDatabase;
  readonly redis: RedisConnection;
  readonly sent: SentMarks;
  readonly wakes: WakeChannel;
}

/** R22: loss is told by a new epoch, in PostgreSQL and in the stream, and never passed over. */
export function createStreamRecovery({ database, redis, sent, wakes }: RecoveryDeps): StreamRecovery {
  const { pool, schema } = database;

  async function claim(client: pg.ClientBase, thread: ThreadRef, row: ThreadRow, token: bigint) {
    const mark = randomMark();
    const { epoch } = row;
    for (const trusted of [false, true]) {
      const takeBack = sent.sending(namesOf(thread).key, mark);
      const answer = await claimStream(redis, thread, { epoch, token, mark, trusted });
      if (answer.kind === "ok") return { epoch, head: answer.head, renewed: false };
      takeBack();
      if (answer.kind === "fenced") return answer.kind;
      if (answer.kind !== "restarted" || !isWhole(thread, answer, row)) break;
    }
    return { ...(await renew(client, thread, row, token)), renewed: !row.deleted };
  }

  async function recover(thread: ThreadRef, sendingAgain?: string): Promise<"there" | "deleted"> {
    const outcome = await inTransaction(pool, async (client) => {
      const row = await lockRow(client, schema, thread);
      // Without a fence nobody ever opened it.
      if (!row || row.deleted || row.fence === 0n) return "deleted";
      const [state] = await statesOf(redis, [thread]);
      if (state?.epoch === row.epoch) {
        if (state.boot === redis.server().boot) return "there";
        if (isWhole(thread, state, row, sendingAgain)) {
          await keepStream(redis, thread, state);
          return "there";
        }
      }
      await renew(client, thread, row, row.fence);
      return "renewed";
    });
    if (outcome === "renewed") await wakes.tellAll([namesOf(thread).tag]);
    return outcome === "deleted" ? outcome : "there";
  }

  /** Whether nothing that anybody may have seen was lost when Redis was restarted. */
  function isWhole(
    thread: ThreadRef,
    { head, mark }: Pick<StreamState, "head" | "mark">,
    row: ThreadRow,
    sendingAgain?: string,
  ): boolean {
    if (sent.isWhole(namesOf(thread).key, mark, sendingAgain)) return true;
    return redis.server().durable && row.head <= head;
  }

  /** Under the row's lock. */
  async function renew(client: pg.ClientBase, thread: ThreadRef, row: ThreadRow, token: bigint) {
    const [state] = await statesOf(redis, [thread]);
    // A tombstone's epoch is new already, and nothing was ever written in it.
    const epoch = row.deleted && !state ? row.epoch : newEpoch();
    const mark = randomMark();
    sent.sending(namesOf(thread).key, mark);
    const renewal = { expected: state?.epoch, epoch, token, mark, base: row.head };
    if (!(await renewStream(redis, thread, renewal))) {
      throw new StoreOutage(new Error("The thread changed meanwhile."));
    }
    const reaches = state !== undefined && state.head >= row.head;
    const left = reaches ? state : { head: row.head, floor: row.head + 1 };
    await renewRow(client, schema, row, epoch, left.floor);
    return { epoch, head: left.head };
  }

  return { claim, recover };
}

export function newEpoch(): string {
  return randomBytes(9).toString("base64url");
}

function randomMark(): string {
  return randomBytes(9).toString("base64url");
}
