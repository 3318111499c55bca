import type { Clock, Timer } from "@throughline/ai-core";
import type { SubscribeOptions, SubscriptionEnd, ThreadHub } from "../hub/thread-hub.js";
import type { ThreadAddress } from "../thread/thread-address.js";
import { type SseStream, whenClosed } from "./sse-stream.js";

/** Why a stream ends: as the hub says, or because its token did. */
export type Ending = SubscriptionEnd | { readonly reason: "expired"; readonly runOpen: boolean };

export interface StreamSubscription {
  readonly hub: ThreadHub;
  readonly clock: Clock;
  readonly thread: ThreadAddress;
  readonly options: SubscribeOptions;
  readonly stream: SseStream;
  readonly expiresAt: number | undefined;
  /** What a reader must still hear, given whether it got a frame. */
  readonly lastWords: (ending: Ending, hasFrames: boolean) => readonly Buffer[];
}

/** Longer than this a timer of Node's fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Subscribes a reader to a thread until one of them is through. The hub never waits; the stream decides who is too slow. */
export function subscribeOnStream({
  hub,
  clock,
  thread,
  options,
  stream,
  expiresAt,
  lastWords,
}: StreamSubscription): void {
  let hasFrames = false;
  let expiry: Timer | undefined;

  function finish(ending: Ending): void {
    const words = lastWords(ending, hasFrames);
    if (words.length > 0) stream.write(words);
    stream.end();
  }

  const subscription = hub.subscribe(thread, options, {
    write(frames) {
      hasFrames ||= frames.length > 0;
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
    const runOpen = subscription.isRunOpen();
    subscription.leave();
    finish({ reason: "expired", runOpen });
  }

  if (expiresAt !== undefined) awaitExpiry(expiresAt);
  whenClosed(stream, () => {
    expiry?.cancel();
    subscription.leave();
  });
}
