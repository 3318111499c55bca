import type { LogEntry, LogPosition } from "@throughline/ai-core";
import { applyEntry, emptyFold, type ThreadFold } from "@throughline/stream-adapter";
import type { ThreadLog } from "@throughline/thread-log";
import type { ReplayKind, ServiceObserver } from "../drive/service-observer.js";
import { foldAt } from "./fold-at.js";
import { encodeSseFrame, type SseFrame } from "./sse-frame.js";
import type { ThreadAddress } from "./thread-address.js";
import type { LiveWatcher, ThreadChannel } from "./thread-channel.js";
import type { WatchEndReason, WatchOptions, WatchSink } from "./thread-hub.js";
import type { WireFace } from "./wire-face.js";

export interface WatcherLineOptions {
  readonly log: ThreadLog;
  readonly observer: ServiceObserver;
  readonly thread: ThreadAddress;
  readonly channel: ThreadChannel;
  readonly face: WireFace;
  readonly options: WatchOptions;
  readonly sink: WatchSink;
}

/** One watcher's line: caught up from the log at its own pace, then fed live with everybody else. */
export interface WatcherLine {
  isGone(): boolean;
  /** Called once, when the watcher leaves or the line ends. */
  onGone(callback: () => void): void;
  joined(how: ReplayKind): void;
  write(frames: readonly Buffer[]): void;
  writeOwn(frames: readonly SseFrame[]): void;
  /** What the thread was at a position of its past; `undefined` when that can't be told any more. */
  foldAt(position: LogPosition): Promise<ThreadFold | undefined>;
  /** From a fold that includes all up to `seq`. `runId`: ends with that run, unless the watcher follows. */
  catchUp(from: { readonly fold: ThreadFold; readonly seq: number }, runId?: string): Promise<void>;
  /** The watcher holds what the channel holds. */
  goLive(): void;
  end(reason: WatchEndReason): void;
  leave(): void;
}

const ENTRIES_PER_READ = 500;

export function createWatcherLine(line: WatcherLineOptions): WatcherLine {
  const { log, thread, channel, face, sink } = line;
  const { follow } = line.options;
  const goneCallbacks: (() => void)[] = [];
  let gone = false;
  let joined = false;
  /** While it catches up, what it has been told of runs; once it is live, what the channel knows. */
  let toldRunOpen = false;
  let live: LiveWatcher | undefined;
  /** Where the log stood when the watcher came: what lies behind is told a second time, what comes after is news. */
  let cameAt = 0;
  void channel.ready.then(() => {
    cameAt = channel.position()?.seq ?? 0;
  });

  function leave(): boolean {
    if (gone) return false;
    gone = true;
    if (live) channel.forget(live);
    for (const callback of goneCallbacks) callback();
    if (joined) line.observer.watcherLeft();
    return true;
  }

  function end(reason: WatchEndReason): void {
    const runOpen = reason !== "done" && (live ? (channel.fold().run?.open ?? false) : toldRunOpen);
    if (!leave()) return;
    sink.end({ reason, runOpen });
  }

  function goLive(): void {
    const isOver = !follow && !channel.fold().run?.open;
    const over = channel.closedWith() ?? (isOver ? "done" : undefined);
    if (over) {
      end(over);
      return;
    }
    live = { face, follow, write: (frames) => void sink.write(frames), end };
    channel.goLive(live);
  }

  /** Tells entries in order, up to the end of `runId`; gives the fold after them. */
  function tell(before: ThreadFold, entries: readonly LogEntry[], runId: string | undefined): Told {
    const frames: Buffer[] = [];
    let fold = before;
    for (const entry of entries) {
      const isPast = entry.seq <= cameAt && !face.needsFold;
      if (isPast) frames.push(...face.frames(fold, entry, "replay").map(encodeSseFrame));
      else frames.push(...channel.encoded(face, fold, entry));
      if (face.needsFold) fold = applyEntry(fold, entry);
      const { type, run_id } = entry.envelope;
      if (!follow && type === "run_end" && run_id === runId)
        return { fold, isOver: true, hasRoom: write(frames) };
    }
    return { fold, isOver: false, hasRoom: write(frames) };
  }

  function write(frames: readonly Buffer[]): boolean {
    return frames.length === 0 || sink.write(frames);
  }

  /** R3: trimmed away under a slow reader. Inside a run nothing may begin anew: it comes back, and gets the prelude then. */
  function afterGap(): void {
    line.observer.gap();
    const prelude = toldRunOpen ? undefined : channel.prelude(face);
    if (prelude === undefined) end("failed");
    else {
      write(prelude);
      goLive();
    }
  }

  async function catchUp(from: { fold: ThreadFold; seq: number }, runId?: string): Promise<void> {
    let { fold, seq } = from;
    const epoch = channel.position()?.epoch ?? "";
    for (;;) {
      const recent = channel.recent.after(seq);
      if (recent) return tell(fold, recent, runId).isOver ? end("done") : goLive();
      toldRunOpen = fold.run?.open ?? false;
      const page = await log.read(thread.ref, { epoch, seq }, ENTRIES_PER_READ);
      if (gone) return;
      if (page.kind === "deleted") return end("deleted");
      // A page that is empty here belies the channel, which holds entries after this one: then too the log lacks some.
      if (page.kind === "gap" || page.entries.length === 0) return afterGap();
      const told = tell(fold, page.entries, runId);
      if (told.isOver) return end("done");
      fold = told.fold;
      seq = page.entries.at(-1)?.seq ?? seq;
      if (!told.hasRoom) await sink.drained();
      if (gone) return;
    }
  }

  return {
    isGone: () => gone,
    onGone(callback) {
      if (gone) callback();
      else goneCallbacks.push(callback);
    },
    joined(how) {
      if (joined || gone) return;
      joined = true;
      line.observer.watcherJoined(how);
    },
    write: (frames) => void write(frames),
    writeOwn: (frames) => void write(frames.map(encodeSseFrame)),
    async foldAt(position) {
      if (!face.needsFold) return emptyFold;
      return channel.recent.foldAt(position.seq) ?? foldAt(log, thread.ref, position);
    },
    catchUp,
    goLive,
    end,
    leave: () => void leave(),
  };
}

interface Told {
  readonly fold: ThreadFold;
  /** The run that was asked for has ended. */
  readonly isOver: boolean;
  readonly hasRoom: boolean;
}
