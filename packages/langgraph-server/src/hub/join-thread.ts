import type { LogEntry, LogPosition } from "@throughline/ai-core";
import { applyEntry, emptyFold, parseFrameCursor, threadFoldPort } from "@throughline/stream-adapter";
import type { WatcherLine, WatcherLineOptions } from "./watcher-line.js";

/** For somebody who holds nothing: R11's prelude, or the log from its beginning for a face that knows none. */
export async function joinFromNothing(about: WatcherLineOptions, line: WatcherLine): Promise<void> {
  const prelude = about.channel.prelude(about.face);
  if (prelude === undefined) {
    line.joined("replay");
    return line.catchUp({ fold: emptyFold, seq: await firstSeq(about) });
  }
  line.joined("prelude");
  line.write(prelude);
  line.goLive();
}

/** R3: a position that can't be served is answered with all there is, never with a guess. */
export function joinAfterGap(about: WatcherLineOptions, line: WatcherLine): Promise<void> {
  about.observer.gap();
  return joinFromNothing(about, line);
}

/** R12: for somebody who holds everything up to a frame. */
export async function joinFromCursor(
  about: WatcherLineOptions,
  line: WatcherLine,
  text: string,
): Promise<void> {
  const { face, channel } = about;
  const cursor = parseFrameCursor(text);
  const position = channel.position();
  if (cursor && position && cursor.epoch !== position.epoch) {
    // Somebody who was away when the thread was deleted is told now; a thread that began anew is shown from its beginning.
    const page = await about.log.read(about.thread.ref, { epoch: cursor.epoch, seq: cursor.seq }, 1);
    if (page.kind === "deleted") return line.end("deleted");
  }
  if (!cursor || !position || cursor.face !== face.key || cursor.epoch !== position.epoch) {
    return joinAfterGap(about, line);
  }
  if (cursor.seq > position.seq) return joinAfterGap(about, line);
  if (cursor.seq === 0) {
    line.joined("resume");
    return line.catchUp({ fold: emptyFold, seq: 0 });
  }
  const before = await line.foldAt({ epoch: cursor.epoch, seq: cursor.seq - 1 });
  const entry = await entryAt(about, cursor);
  if (line.isGone()) return;
  if (before === undefined || entry === undefined) return joinAfterGap(about, line);
  line.joined("resume");
  line.writeOwn(face.resume(before, entry, cursor.n));
  return line.catchUp({ fold: applyEntry(before, entry), seq: cursor.seq });
}

async function entryAt(
  { log, thread, channel }: WatcherLineOptions,
  { epoch, seq }: LogPosition,
): Promise<LogEntry | undefined> {
  const [recent] = channel.recent.after(seq - 1) ?? [];
  if (recent) return recent;
  const page = await log.read(thread.ref, { epoch, seq: seq - 1 }, 1);
  return page.kind === "entries" ? page.entries[0] : undefined;
}

/** Right before the first entry that can be read: a trimmed log goes back to its newest snapshot at least. */
async function firstSeq({ log, thread }: WatcherLineOptions): Promise<number> {
  const page = await log.read(thread.ref, undefined, 1);
  if (page.kind !== "gap") return 0;
  const snapshot = await log.snapshot(thread.ref, threadFoldPort.version);
  return snapshot?.position.seq ?? page.head?.seq ?? 0;
}
