import { type Clock, type LogEntry, type LogPosition, retryStore } from "@throughline/ai-core";
import { applyEntry, emptyThreadProjection, type ThreadProjection } from "@throughline/reading";
import type { ThreadLog } from "@throughline/thread-log";
import type { ReplayKind, ServiceObserver } from "../operations/observer.js";
import type { ThreadAddress } from "../threads/thread-address.js";
import { encodeSseFrame, type FrameEncoder, type SseFrame } from "./frame-encoders.js";
import { foldAt } from "./read-projection.js";
import type { EndReason, FrameSink, SubscribeOptions } from "./stream-types.js";
import type { LiveSubscriber, ThreadBroadcast } from "./thread-broadcast.js";

export interface SubscriberOptions {
  readonly log: Pick<ThreadLog, "read" | "snapshot" | "terminal">;
  readonly clock: Clock;
  readonly observer: Pick<ServiceObserver, "gap" | "subscriberJoined" | "subscriberLeft">;
  readonly thread: ThreadAddress;
  readonly channel: ThreadBroadcast;
  readonly face: FrameEncoder;
  readonly options: SubscribeOptions;
  readonly sink: FrameSink;
}

/** One subscriber: caught up from the log at its own pace, then fed live with all others. */
export interface Subscriber {
  /** Aborted when the subscriber leaves or its stream ends. */
  readonly gone: AbortSignal;
  joined(how: ReplayKind): void;
  write(frames: readonly Buffer[]): void;
  writeUnshared(frames: readonly SseFrame[]): void;
  /** Calls a store, and retries through an outage for as long as the subscriber stays. */
  ask<Result>(attempt: () => Promise<Result>): Promise<Result>;
  /** The projection at an earlier position; `undefined` when the log no longer has it. */
  foldAt(position: LogPosition): Promise<ThreadProjection | undefined>;
  /** Sends entries from a fold that includes all up to `seq`. `runId`: ends with that run, unless the subscriber follows. */
  catchUp(from: { readonly fold: ThreadProjection; readonly seq: number }, runId?: string): Promise<void>;
  /** The subscriber holds what the view holds. */
  goLive(): void;
  /** AG-UI: a RUN_STARTED was written whose terminal was not. */
  isRunOpen(): boolean;
  end(reason: EndReason): void;
  leave(): void;
}

const ENTRIES_PER_READ = 500;

export function createSubscriber(about: SubscriberOptions): Subscriber {
  const { log, clock, thread, channel, face, sink, observer } = about;
  const { follow } = about.options;
  const { view } = channel;
  const over = new AbortController();
  let joined = false;
  /** Whether the entries written so far leave a run open, while the subscriber catches up; once it is live, the view has that. */
  let isReplayedRunOpen = false;
  let live: LiveSubscriber | undefined;
  /** Log head at subscription time: entries up to it are replayed, later ones are live. */
  let headAtJoin = 0;
  void view.ready().then(() => {
    headAtJoin = view.position()?.seq ?? 0;
  });

  function leave(): boolean {
    if (over.signal.aborted) return false;
    if (live) channel.drop(live);
    over.abort();
    if (joined) observer.subscriberLeft();
    return true;
  }

  function isRunOpen(): boolean {
    return live ? (view.fold().run?.open ?? false) : isReplayedRunOpen;
  }

  function end(reason: EndReason): void {
    const runOpen = reason !== "done" && isRunOpen();
    if (!leave()) return;
    sink.end({ reason, runOpen });
  }

  function goLive(): void {
    const isOver = !follow && !view.fold().run?.open;
    const reason = channel.endedWith() ?? (isOver ? "done" : undefined);
    if (reason) {
      end(reason);
      return;
    }
    live = { face, follow, write: (frames) => void sink.write(frames), end };
    channel.goLive(live);
  }

  const ask = <Result>(attempt: () => Promise<Result>) => retryStore({ clock, signal: over.signal }, attempt);

  /** Writes entries in order, up to the end of `runId`; returns the fold after them. */
  function writeEntries(
    before: ThreadProjection,
    entries: readonly LogEntry[],
    runId: string | undefined,
  ): Written {
    const frames: Buffer[] = [];
    let fold = before;
    for (const entry of entries) {
      const isPast = entry.seq <= headAtJoin && !face.needsFold;
      if (isPast) frames.push(...face.frames(fold, entry, "replay").map(encodeSseFrame));
      else frames.push(...channel.encoded(face, fold, entry));
      if (face.needsFold) fold = applyEntry(fold, entry);
      const { type, run_id } = entry.envelope;
      if (!follow && type === "run_end" && run_id === runId)
        return { fold, isOver: true, hasCapacity: write(frames) };
    }
    return { fold, isOver: false, hasCapacity: write(frames) };
  }

  function write(frames: readonly Buffer[]): boolean {
    return frames.length === 0 || sink.write(frames);
  }

  /** R3: the log was trimmed under a slow reader. Inside a run no prelude is sent: the reader reconnects, and gets it then. */
  async function afterGap(): Promise<void> {
    observer.gap();
    await view.ready();
    if (over.signal.aborted) return;
    // A view that has ended may hold nothing.
    const cannotBegin = isReplayedRunOpen || channel.endedWith() !== undefined;
    const prelude = cannotBegin ? undefined : channel.prelude(face);
    if (prelude === undefined) end("failed");
    else {
      write(prelude);
      goLive();
    }
  }

  async function catchUp(from: { fold: ThreadProjection; seq: number }, runId?: string): Promise<void> {
    let { fold, seq } = from;
    const epoch = view.position()?.epoch ?? "";
    for (;;) {
      const recent = view.recent.after(seq);
      if (recent) return writeEntries(fold, recent, runId).isOver ? end("done") : goLive();
      isReplayedRunOpen = fold.run?.open ?? false;
      const after = { epoch, seq };
      const page = await ask(() => log.read(thread.ref, after, ENTRIES_PER_READ));
      if (over.signal.aborted) return;
      if (page.kind === "deleted") return end("deleted");
      // The log may be ahead of the view, which will send the rest to all its subscribers.
      const held = view.position()?.seq ?? 0;
      const entries = page.kind === "gap" ? [] : page.entries.filter((entry) => entry.seq <= held);
      // A page that is empty here contradicts the view, which holds entries after this one: then too the log lacks some.
      if (entries.length === 0) return afterGap();
      const written = writeEntries(fold, entries, runId);
      if (written.isOver) return end("done");
      fold = written.fold;
      seq = entries.at(-1)?.seq ?? seq;
      if (!written.hasCapacity) await sink.drained();
      if (over.signal.aborted) return;
    }
  }

  return {
    gone: over.signal,
    joined(how) {
      if (joined || over.signal.aborted) return;
      joined = true;
      observer.subscriberJoined(how);
    },
    write: (frames) => void write(frames),
    writeUnshared: (frames) => void write(frames.map(encodeSseFrame)),
    ask,
    async foldAt(position) {
      if (!face.needsFold) return emptyThreadProjection;
      return view.recent.foldAt(position.seq) ?? ask(() => foldAt(log, thread.ref, position));
    },
    catchUp,
    goLive,
    isRunOpen,
    end,
    leave: () => void leave(),
  };
}

interface Written {
  readonly fold: ThreadProjection;
  /** The requested run has ended. */
  readonly isOver: boolean;
  readonly hasCapacity: boolean;
}
