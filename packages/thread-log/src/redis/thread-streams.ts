import type { RangeRequest, StoreAppend, StoredEntry } from "../port/log-store.js";
import type { RetentionPolicy, TrimResult } from "../port/thread-log.js";
import type { ThreadRef } from "../port/thread-ref.js";
import type { RedisConnection } from "./redis-connection.js";
import { listIn, numberIn, textIn } from "./reply.js";
import { parseLine, type StreamState } from "./thread-line.js";
import { namesOf } from "./thread-names.js";

export interface Appended {
  readonly kind: "ok";
  readonly epoch: string;
  readonly first: number;
  readonly last: number;
  readonly unfolded: { readonly entries: number; readonly bytes: number };
  readonly held: { readonly entries: number; readonly bytes: number };
}

/** `missing`: Redis does not know the thread. `restarted`: it knew it before it was last started, and may have lost some of it. */
export type AppendAnswer = Appended | { readonly kind: "missing" | "fenced" | "restarted" };

export type ClaimAnswer =
  | { readonly kind: "ok"; readonly head: number }
  | { readonly kind: "restarted"; readonly head: number; readonly mark: string }
  | { readonly kind: "missing" | "fenced" | "otherEpoch" };

export interface StreamRange {
  readonly epoch: string;
  readonly head: number;
  readonly floor: number;
  readonly entries: readonly StoredEntry[];
}

export interface Claim {
  readonly epoch: string;
  readonly token: bigint;
  readonly mark: string;
  readonly trusted: boolean;
}

export interface Renewal {
  /** The epoch that was read before, or nothing if there was none. */
  readonly expected: string | undefined;
  readonly epoch: string;
  readonly token: bigint;
  readonly mark: string;
  /** Up to where the log was known to reach, by others than Redis. */
  readonly base: number;
}

export async function appendAll(
  redis: RedisConnection,
  batch: readonly StoreAppend[],
  wake: { readonly channel: string; readonly message: string },
): Promise<readonly AppendAnswer[]> {
  const keys: string[] = [];
  const args: string[] = [redis.server().boot, wake.channel, wake.message];
  for (const { thread, token, appendId, entries } of batch) {
    keys.push(...namesOf(thread).redis);
    args.push(String(token), appendId, String(entries.length));
    for (const { text, bytes } of entries) args.push(text, String(bytes));
  }
  const replies = listIn(await redis.run("append", keys, args));
  return batch.map(({ entries }, index) => readAppendAnswer(replies[index], entries.length));
}

function readAppendAnswer(reply: unknown, count: number): AppendAnswer {
  if (reply === "missing" || reply === "fenced" || reply === "restarted") return { kind: reply };
  const { epoch, head, bytes, floor, floorBytes, folded, foldedBytes } = parseLine(textIn(reply));
  return {
    kind: "ok",
    epoch,
    first: head - count + 1,
    last: head,
    unfolded: { entries: head - folded, bytes: bytes - foldedBytes },
    held: { entries: head - floor + 1, bytes: bytes - floorBytes },
  };
}

export async function claimStream(
  redis: RedisConnection,
  thread: ThreadRef,
  { epoch, token, mark, trusted }: Claim,
): Promise<ClaimAnswer> {
  const args = [epoch, String(token), redis.server().boot, mark, trusted ? "trusted" : ""];
  const [kind, head, last] = textIn(await redis.run("claim", namesOf(thread).redis, args)).split(" ");
  if (kind === "ok") return { kind, head: numberIn(head) };
  if (kind === "restarted") return { kind, head: numberIn(head), mark: textIn(last) };
  return { kind: kind === "fenced" || kind === "otherEpoch" ? kind : "missing" };
}

/** `false` when somebody else did since. */
export async function renewStream(
  redis: RedisConnection,
  thread: ThreadRef,
  { expected, epoch, token, mark, base }: Renewal,
): Promise<boolean> {
  const args = [expected ?? "", epoch, String(token), redis.server().boot, mark, String(base)];
  return numberIn(await redis.run("renew", namesOf(thread).redis, args)) === 1;
}

/** After a restart that is known to have lost nothing of the thread. */
export async function keepStream(
  redis: RedisConnection,
  thread: ThreadRef,
  { epoch, mark }: StreamState,
): Promise<void> {
  await redis.run("keep", namesOf(thread).redis, [epoch, mark, redis.server().boot]);
}

export async function foldStream(
  redis: RedisConnection,
  thread: ThreadRef,
  position: { readonly epoch: string; readonly seq: number },
): Promise<void> {
  await redis.run("fold", namesOf(thread).redis, [position.epoch, String(position.seq)]);
}

export async function trimStream(
  redis: RedisConnection,
  thread: ThreadRef,
  epoch: string,
  through: number,
): Promise<TrimResult> {
  const [dropped, floor] = listIn(await redis.run("trim", namesOf(thread).redis, [epoch, String(through)]));
  return { dropped: numberIn(dropped), floor: numberIn(floor) };
}

export async function excessOfStream(
  redis: RedisConnection,
  thread: ThreadRef,
  { maxEntries, maxBytes, maxAgeMs }: RetentionPolicy,
): Promise<{ readonly epoch: string; readonly through: number } | undefined> {
  const bounds = [maxEntries, maxBytes, maxAgeMs].map((bound) =>
    bound !== undefined && Number.isFinite(bound) ? String(bound) : "",
  );
  const reply = await redis.run("excess", namesOf(thread).redis, bounds);
  if (reply === null) return undefined;
  const [epoch, through] = listIn(reply);
  return { epoch: textIn(epoch), through: numberIn(through) };
}

export async function removeStreams(redis: RedisConnection, threads: readonly ThreadRef[]): Promise<void> {
  if (threads.length > 0) await redis.send(["DEL", ...threads.flatMap((thread) => namesOf(thread).redis)]);
}

/** Each range is of one moment: what was known of the thread and its entries can't disagree. */
export async function readStreams(
  redis: RedisConnection,
  requests: readonly RangeRequest[],
  limit: number,
): Promise<readonly (StreamRange | undefined)[]> {
  const replies = await redis.transaction(
    requests.flatMap(({ thread, afterSeq }) => {
      const [line, log] = namesOf(thread).redis;
      return [
        ["GET", line],
        ["XRANGE", log, String(afterSeq + 1), "+", "COUNT", String(limit)],
      ];
    }),
  );
  return requests.map((request, index) => {
    const state = readState(replies[2 * index]);
    if (state === undefined) return undefined;
    const { epoch, head, floor } = state;
    const isOfUse = request.epoch === undefined || request.epoch === epoch;
    return { epoch, head, floor, entries: isOfUse ? listIn(replies[2 * index + 1]).map(readEntry) : [] };
  });
}

function readEntry(reply: unknown): StoredEntry {
  const [id, fields] = listIn(reply);
  const [, text] = listIn(fields);
  return { seq: Number.parseInt(textIn(id), 10), text: textIn(text) };
}

export async function statesOf(
  redis: RedisConnection,
  threads: readonly ThreadRef[],
): Promise<readonly (StreamState | undefined)[]> {
  if (threads.length === 0) return [];
  return listIn(await redis.send(["MGET", ...threads.map((thread) => namesOf(thread).redis[0])])).map(
    readState,
  );
}

function readState(line: unknown): StreamState | undefined {
  return line === null ? undefined : parseLine(textIn(line));
}
