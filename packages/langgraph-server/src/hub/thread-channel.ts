import type { LogEntry } from "@throughline/ai-core";
import type { ThreadFold } from "@throughline/stream-adapter";
import type { ThreadView, ViewEnd } from "../thread/thread-view.js";
import { encodeSseFrame } from "./sse-frame.js";
import type { EndReason } from "./thread-hub.js";
import type { WireFace } from "./wire-face.js";

/** A subscriber that is fed live. */
export interface LiveSubscriber {
  readonly face: WireFace;
  readonly follow: boolean;
  write(frames: readonly Buffer[]): void;
  end(reason: EndReason): void;
}

/** A subscriber that waits for a run to begin. */
export interface RunWaiter {
  readonly runId: string;
  /** Called with what the thread was before the run, right after its first entry was applied. */
  begin(before: ThreadFold, entry: LogEntry): void;
  end(reason: EndReason): void;
}

/** A view as frames: one encoding per entry and face, whatever the number of subscribers (R8). */
export interface ThreadChannel {
  readonly view: ThreadView;
  /** From the next entry on. */
  goLive(subscriber: LiveSubscriber): void;
  waitFor(waiter: RunWaiter): void;
  drop(subscriber: LiveSubscriber | RunWaiter): void;
  encoded(face: WireFace, before: ThreadFold, entry: LogEntry): readonly Buffer[];
  /** R11's prelude at the view's position; `undefined` for a face that has none. */
  prelude(face: WireFace): readonly Buffer[] | undefined;
  /** Why nothing follows, once that is so. */
  endedWith(): EndReason | undefined;
  /** Stops listening to the view. */
  close(): void;
}

/** Shared while subscribers join together; then only their sockets hold the bytes. */
interface Prelude {
  readonly seq: number;
  readonly frames: WeakRef<readonly Buffer[]>;
}

export function openThreadChannel(view: ThreadView): ThreadChannel {
  const live = new Map<string, Set<LiveSubscriber>>();
  const waiting = new Set<RunWaiter>();
  const encodings = new Map<string, WeakMap<LogEntry, readonly Buffer[]>>();
  const preludes = new Map<string, Prelude>();
  let batches = new Map<string, Buffer[]>();

  const stopListening = view.listen({
    entry(before, entry) {
      const { type, run_id: runId } = entry.envelope;
      if (type === "run_start") flush();
      for (const [key, subscribers] of live) {
        const [first] = subscribers;
        if (first) batchFor(key).push(...encoded(first.face, before, entry));
      }
      if (type === "run_start") {
        flush();
        for (const waiter of [...waiting]) if (waiter.runId === runId) waiter.begin(before, entry);
      } else if (type === "run_end") {
        flush();
        endRun();
      }
    },
    applied: flush,
    ended(why) {
      const reason = endReasonOf(why);
      for (const subscribers of live.values())
        for (const subscriber of [...subscribers]) subscriber.end(reason);
      for (const waiter of [...waiting]) waiter.end(reason);
    },
  });

  function batchFor(key: string): Buffer[] {
    const known = batches.get(key);
    if (known) return known;
    const batch: Buffer[] = [];
    batches.set(key, batch);
    return batch;
  }

  function flush(): void {
    if (batches.size === 0) return;
    const written = batches;
    batches = new Map();
    for (const [key, frames] of written) {
      for (const subscriber of live.get(key) ?? []) subscriber.write(frames);
    }
  }

  function endRun(): void {
    for (const subscribers of live.values()) {
      for (const subscriber of [...subscribers]) if (!subscriber.follow) subscriber.end("done");
    }
  }

  function encoded(face: WireFace, before: ThreadFold, entry: LogEntry): readonly Buffer[] {
    let known = encodings.get(face.key);
    if (!known) {
      known = new WeakMap();
      encodings.set(face.key, known);
    }
    let frames = known.get(entry);
    if (!frames) {
      frames = face.frames(before, entry, "live").map(encodeSseFrame);
      known.set(entry, frames);
    }
    return frames;
  }

  return {
    view,
    goLive(subscriber) {
      const subscribers = live.get(subscriber.face.key) ?? new Set();
      live.set(subscriber.face.key, subscribers.add(subscriber));
    },
    waitFor: (waiter) => void waiting.add(waiter),
    drop(subscriber) {
      if (!("face" in subscriber)) {
        waiting.delete(subscriber);
        return;
      }
      const subscribers = live.get(subscriber.face.key);
      subscribers?.delete(subscriber);
      if (subscribers?.size === 0) live.delete(subscriber.face.key);
    },
    encoded,
    prelude(face) {
      const seq = view.position()?.seq ?? 0;
      const known = preludes.get(face.key);
      const shared = known?.seq === seq ? known.frames.deref() : undefined;
      if (shared) return shared;
      const frames = face.prelude(view.fold(), view.position())?.map(encodeSseFrame);
      if (frames) preludes.set(face.key, { seq, frames: new WeakRef(frames) });
      return frames;
    },
    endedWith() {
      const why = view.endedWith();
      return why && endReasonOf(why);
    },
    close: stopListening,
  };
}

function endReasonOf(why: ViewEnd): EndReason {
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
