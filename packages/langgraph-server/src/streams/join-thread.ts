import type { LogEntry, LogPosition } from "@throughline/ai-core";
import {
  applyEntry,
  emptyThreadProjection,
  type FrameCursor,
  parseFrameCursor,
  threadProjectionCodec,
} from "@throughline/reading";
import type { ReadResult } from "@throughline/thread-log";
import type { Subscriber, SubscriberOptions } from "./subscriber.js";

/** Joins a subscriber that holds nothing: R11's prelude, or the log from its beginning for a face without one. */
export async function joinFromNothing(about: SubscriberOptions, subscriber: Subscriber): Promise<void> {
  const { channel } = about;
  // While the log resolved a cursor, an idle view may have evicted its fold, or ended.
  await channel.view.ready();
  if (subscriber.gone.aborted) return;
  const ended = channel.endedWith();
  if (ended) return subscriber.end(ended);
  const prelude = channel.prelude(about.face);
  if (prelude === undefined) {
    subscriber.joined("replay");
    return subscriber.catchUp({ fold: emptyThreadProjection, seq: await firstSeq(about, subscriber) });
  }
  subscriber.joined("prelude");
  subscriber.write(prelude);
  subscriber.goLive();
}

/** R3: joins from the full snapshot where a position can't be served, never from a guess. */
export function joinAfterGap(about: SubscriberOptions, subscriber: Subscriber): Promise<void> {
  about.observer.gap();
  return joinFromNothing(about, subscriber);
}

/** R12: joins a subscriber that holds everything up to a frame. */
export async function joinFromCursor(
  about: SubscriberOptions,
  subscriber: Subscriber,
  text: string,
): Promise<void> {
  const { face, channel, log, thread } = about;
  const position = channel.view.position();
  const cursor = await resolveCursor(text, position, (after) =>
    subscriber.ask(() => log.read(thread.ref, after, 1)),
  );
  // A subscriber that was away when the thread was deleted gets that end now; a recreated thread is shown from its beginning.
  if (cursor === "deleted") return subscriber.end("deleted");
  if (!cursor || !position || cursor.face !== face.key) return joinAfterGap(about, subscriber);
  if (cursor.seq > position.seq) return joinAfterGap(about, subscriber);
  if (cursor.seq === 0) {
    subscriber.joined("resume");
    return subscriber.catchUp({ fold: emptyThreadProjection, seq: 0 });
  }
  const before = await subscriber.foldAt({ epoch: cursor.epoch, seq: cursor.seq - 1 });
  const entry = await entryAt(about, subscriber, cursor);
  if (subscriber.gone.aborted) return;
  if (before === undefined || entry === undefined) return joinAfterGap(about, subscriber);
  subscriber.joined("resume");
  subscriber.writeUnshared(face.resume(before, entry, cursor.n));
  return subscriber.catchUp({ fold: applyEntry(before, entry), seq: cursor.seq });
}

async function entryAt(
  { log, thread, channel }: SubscriberOptions,
  subscriber: Subscriber,
  { epoch, seq }: LogPosition,
): Promise<LogEntry | undefined> {
  const isWanted = (entry: LogEntry | undefined) => (entry?.seq === seq ? entry : undefined);
  const [recent] = channel.view.recent.after(seq - 1) ?? [];
  if (isWanted(recent)) return recent;
  const read = (after: LogPosition) => subscriber.ask(() => log.read(thread.ref, after, 1));
  const page = await read({ epoch, seq: seq - 1 });
  // Compaction may have merged the entry from several, of which the one before it was one.
  const found = page.kind === "gap" && page.resumeAt ? await read(page.resumeAt) : page;
  return found.kind === "entries" ? isWanted(found.entries[0]) : undefined;
}

/** The seq right before the first readable entry: a trimmed log goes back to its newest snapshot at least. */
async function firstSeq({ log, thread }: SubscriberOptions, subscriber: Subscriber): Promise<number> {
  const page = await subscriber.ask(() => log.read(thread.ref, undefined, 1));
  if (page.kind !== "gap") return 0;
  const snapshot = await subscriber.ask(() => log.snapshot(thread.ref, threadProjectionCodec.reads));
  return snapshot?.position.seq ?? page.head?.seq ?? 0;
}

/**
 * A client's cursor as a cursor of the log at `position`; `undefined` where it is none. One from before a restore stays
 * good as far as the backup had come (R19).
 */
export async function resolveCursor(
  text: string,
  position: LogPosition | undefined,
  read: (after: LogPosition) => Promise<ReadResult>,
): Promise<FrameCursor | "deleted" | undefined> {
  const cursor = parseFrameCursor(text);
  if (!cursor || !position) return undefined;
  if (cursor.epoch === position.epoch) return cursor;
  const page = await read({ epoch: cursor.epoch, seq: cursor.seq });
  if (page.kind === "deleted") return "deleted";
  const continued = page.kind === "gap" ? page.resumeAt : undefined;
  return continued?.epoch === position.epoch ? { ...cursor, ...continued } : undefined;
}
