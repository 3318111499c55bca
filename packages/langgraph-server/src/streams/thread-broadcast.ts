import type { LogEntry } from "@throughline/ai-core";
import type { ThreadProjection } from "@throughline/reading";
import { encodeSseFrame, type FrameEncoder } from "./frame-encoders.js";
import type { EndReason } from "./stream-types.js";
import type { LiveThread, LiveThreadEnd } from "./thread-follower.js";

/** A subscriber that is fed live. */
export interface LiveSubscriber {
  readonly face: FrameEncoder;
  readonly follow: boolean;
  write(frames: readonly Buffer[]): void;
  end(reason: EndReason): void;
}

/** A subscriber that waits for a run to begin. */
export interface RunWaiter {
  readonly runId: string;
  /** Called with the projection before the run, right after the run's first entry was applied. */
  begin(before: ThreadProjection, entry: LogEntry): void;
  end(reason: EndReason): void;
}

/** A view as frames: one encoding per entry and face, whatever the number of subscribers (R8). */
export interface ThreadBroadcast {
  readonly view: LiveThread;
  /** Feeds the subscriber from the next entry on. */
  goLive(subscriber: LiveSubscriber): void;
  waitFor(waiter: RunWaiter): void;
  drop(subscriber: LiveSubscriber | RunWaiter): void;
  encoded(face: FrameEncoder, before: ThreadProjection, entry: LogEntry): readonly Buffer[];
  /** R11's prelude at the view's position; `undefined` for a face that has none. */
  prelude(face: FrameEncoder): readonly Buffer[] | undefined;
  /** The reason why nothing follows, once the view has ended. */
  endedWith(): EndReason | undefined;
  /** Stops listening to the view. */
  close(): void;
}

/** The state that subscribers of one face share. */
interface FaceStream {
  readonly face: FrameEncoder;
  readonly live: Set<LiveSubscriber>;
  readonly frames: WeakMap<LogEntry, readonly Buffer[]>;
  /** Frames of the entries that are being applied. */
  batch: Buffer[];
  /** Shared while subscribers join together; then only their sockets hold the bytes. */
  prelude: { readonly seq: number; readonly frames: WeakRef<readonly Buffer[]> } | undefined;
}

export function openThreadBroadcast(view: LiveThread): ThreadBroadcast {
  const streams = new Map<string, FaceStream>();
  const waiting = new Set<RunWaiter>();

  const stopListening = view.listen({
    entry(before, entry) {
      const { type, run_id: runId } = entry.envelope;
      if (type === "run_start") flush();
      for (const { face, live, batch } of streams.values()) {
        if (live.size > 0) batch.push(...encoded(face, before, entry));
      }
      if (type === "run_start") {
        flush();
        for (const waiter of [...waiting]) if (waiter.runId === runId) waiter.begin(before, entry);
      } else if (type === "run_end") {
        flush();
        for (const subscriber of allLive()) if (!subscriber.follow) subscriber.end("done");
      }
    },
    applied: flush,
    ended(why) {
      const reason = endReasonOf(why);
      for (const subscriber of allLive()) subscriber.end(reason);
      for (const waiter of [...waiting]) waiter.end(reason);
    },
  });

  function streamOf(face: FrameEncoder): FaceStream {
    const known = streams.get(face.shareKey);
    if (known) return known;
    const stream = {
      face,
      live: new Set<LiveSubscriber>(),
      frames: new WeakMap(),
      batch: [],
      prelude: undefined,
    };
    streams.set(face.shareKey, stream);
    return stream;
  }

  /** A copy: a subscriber that receives an end leaves the set. */
  function allLive(): LiveSubscriber[] {
    return [...streams.values()].flatMap(({ live }) => [...live]);
  }

  function flush(): void {
    for (const stream of streams.values()) {
      const { batch, live } = stream;
      if (batch.length === 0) continue;
      stream.batch = [];
      for (const subscriber of live) subscriber.write(batch);
    }
  }

  function encoded(face: FrameEncoder, before: ThreadProjection, entry: LogEntry): readonly Buffer[] {
    const { frames: known } = streamOf(face);
    let frames = known.get(entry);
    if (!frames) {
      frames = face.frames(before, entry, "live").map(encodeSseFrame);
      known.set(entry, frames);
    }
    return frames;
  }

  return {
    view,
    goLive: (subscriber) => void streamOf(subscriber.face).live.add(subscriber),
    waitFor: (waiter) => void waiting.add(waiter),
    drop(subscriber) {
      if ("face" in subscriber) streamOf(subscriber.face).live.delete(subscriber);
      else waiting.delete(subscriber);
    },
    encoded,
    prelude(face) {
      const stream = streamOf(face);
      const seq = view.position()?.seq ?? 0;
      const shared = stream.prelude?.seq === seq ? stream.prelude.frames.deref() : undefined;
      if (shared) return shared;
      const frames = face.prelude(view.fold(), view.position())?.map(encodeSseFrame);
      if (frames) stream.prelude = { seq, frames: new WeakRef(frames) };
      return frames;
    },
    endedWith() {
      const why = view.endedWith();
      return why && endReasonOf(why);
    },
    close: stopListening,
  };
}

function endReasonOf(why: LiveThreadEnd): EndReason {
  switch (why) {
    case "deleted":
    case "shutting_down":
      return why;
    case "gap":
    case "failed":
    case "unused":
      return "failed";
  }
}
