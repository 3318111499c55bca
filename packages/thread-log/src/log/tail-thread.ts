import { ThroughlineError } from "@throughline/ai-core";
import type { StoredRange } from "../port/log-store.js";
import type { Gap, TailEvent } from "../port/thread-log.js";
import type { ThreadRef } from "../port/thread-ref.js";
import { answerRange, type RangeAnswer } from "./answer-range.js";
import type { Topics } from "./topics.js";
import { beginJoin, endWatcher, type Place, takeBuffered, type Watcher } from "./watcher.js";

export interface TailDeps {
  readonly topics: Topics;
  readonly read: (thread: ThreadRef, place: Place) => Promise<StoredRange | undefined>;
  readonly completeGap: (
    thread: ThreadRef,
    answer: Extract<RangeAnswer, { kind: "gap" }>,
    after: Place,
  ) => Promise<Gap>;
}

/** Subscribe, then read, then drain by seq, then live (R2, E1): in that order nothing can fall between. */
export function tailThread(
  deps: TailDeps,
  thread: ThreadRef,
  watcher: Watcher,
  signal: AbortSignal | undefined,
): AsyncIterableIterator<TailEvent, undefined> {
  const leave = () => endWatcher(watcher, "left");
  if (signal?.aborted) leave();
  signal?.addEventListener("abort", leave, { once: true });
  const forget = () => signal?.removeEventListener("abort", leave);
  const events = follow(deps, thread, watcher, forget);
  return {
    next: () => events.next(),
    // A generator answers `return` only after the `next` before it, which may wait for ever on a quiet thread.
    return: async () => {
      leave();
      forget();
      await events.return(undefined);
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

async function* follow(
  deps: TailDeps,
  thread: ThreadRef,
  watcher: Watcher,
  done: () => void,
): AsyncGenerator<TailEvent, undefined> {
  const { topics } = deps;
  const topic = topics.join(thread, watcher);
  try {
    while (watcher.ended === undefined) {
      if (watcher.mode === "live") {
        const entries = takeBuffered(watcher);
        const last = entries.at(-1);
        if (last) yield { kind: "entries", entries, head: { epoch: last.epoch, seq: last.seq } };
        else await change(watcher);
        continue;
      }
      beginJoin(watcher);
      const range = await deps.read(thread, watcher.place);
      if (watcher.ended !== undefined) break;
      const answer = answerRange(range, positionOf(watcher.place));
      if (answer.kind === "gap") yield await deps.completeGap(thread, answer, watcher.place);
      else if (answer.kind === "deleted") yield answer;
      if (answer.kind !== "entries") return undefined;
      const { entries, head } = answer;
      watcher.place = { epoch: head?.epoch, seq: entries.at(-1)?.seq ?? watcher.place.seq };
      if (watcher.place.seq === (head?.seq ?? 0)) topics.goLive(topic, watcher);
      else watcher.mode = "behind";
      if (entries.length > 0) yield answer;
    }
    if (watcher.ended === "closing") {
      throw new ThroughlineError("shutting_down", "This instance is shutting down; connect again.");
    }
    return undefined;
  } finally {
    topics.leave(topic, watcher);
    done();
  }
}

function change(watcher: Watcher): Promise<void> {
  return new Promise((resolve) => {
    watcher.notify = resolve;
  });
}

function positionOf(place: Place): { epoch: string; seq: number } | undefined {
  return place.epoch === undefined ? undefined : { epoch: place.epoch, seq: place.seq };
}
