import type { Clock, Timer } from "@throughline/ai-core";
import type { SubscribeOptions, SubscriptionEnd, ThreadHub } from "../hub/thread-hub.js";
import type { ThreadAddress } from "../thread/thread-address.js";
import { type SseStream, whenClosed } from "./sse-stream.js";

/** Why a stream ends: as the hub says, or because its token did. */
export type Ending = SubscriptionEnd | { readonly reason: "expired" };

export interface StreamSubscription {
  readonly hub: ThreadHub;
  readonly clock: Clock;
  readonly thread: ThreadAddress;
  readonly options: SubscribeOptions;
  readonly stream: SseStream;
  readonly expiresAt: number | undefined;
  /** What a reader must still hear, given the last frame it got. */
  readonly lastWords: (ending: Ending, last: Buffer | undefined) => readonly Buffer[];
}

/** Longer than this a timer of Node's fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Lets a reader watch a thread until one of them is through. The hub never waits; the stream decides who is too slow. */
export function subscribeOnStream({
  hub,
  clock,
  thread,
  options,
  stream,
  expiresAt,
  lastWords,
}: StreamSubscription): void {
  let last: Buffer | undefined;
  let expiry: Timer | undefined;

  function finish(ending: Ending): void {
    const words = lastWords(ending, last);
    if (words.length > 0) stream.write(words);
    stream.end();
  }

  const watch = hub.subscribe(thread, options, {
    write(frames) {
      last = frames.at(-1) ?? last;
      return stream.write(frames);
    },
    drained: () => stream.drained(),
    end: finish,
  });

  function awaitExpiry(at: number): void {
    const wait = at - clock.now();
    if (wait > 0) {
      expiry = clock.schedule(Math.min(wait, MAX_TIMER_MS), () => awaitExpiry(at));
      return;
    }
    watch.leave();
    finish({ reason: "expired" });
  }

  if (expiresAt !== undefined) awaitExpiry(expiresAt);
  whenClosed(stream, () => {
    expiry?.cancel();
    watch.leave();
  });
}
