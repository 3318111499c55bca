import { type Clock, type ErrorCode, ThroughlineError, type Timer } from "@throughline/ai-core";
import { z } from "zod";
import type { SubscribeOptions, SubscriptionEnd, ThreadHub } from "../streams/stream-types.js";
import type { ThreadAddress } from "../threads/thread-address.js";
import { queryOf, type RouteContext } from "./request.js";
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

type EarlyReason = Exclude<Ending["reason"], "done">;

const WORDS: Readonly<Record<EarlyReason, { readonly code: ErrorCode; readonly message: string }>> = {
  deleted: { code: "not_found", message: "The thread was deleted." },
  shutting_down: {
    code: "shutting_down",
    message: "This instance is shutting down. Reconnect to go on elsewhere.",
  },
  failed: { code: "internal", message: "The stream broke on our side. Reconnect to go on." },
  expired: { code: "unauthorized", message: "The token expired. Sign in and reconnect to go on." },
};

/** Why a stream ended early, for every reading. */
export function earlyEndError(reason: EarlyReason): ThroughlineError {
  const { code, message } = WORDS[reason];
  return new ThroughlineError(code, message);
}

export const followQuerySchema = z.object({
  follow: z
    .enum(["", "1", "true", "0", "false"])
    .optional()
    .describe("Whether the stream goes on after what there is now, over many runs."),
});

/** `undefined` where the request does not say. */
export function followOf(c: RouteContext): boolean | undefined {
  const { follow } = queryOf(c, followQuerySchema);
  return follow === undefined ? undefined : follow !== "0" && follow !== "false";
}

export const lastEventIdHeaders = z.object({
  "Last-Event-ID": z
    .string()
    .optional()
    .describe(
      "Where a returning client stands: the last id it got. What can't be served gets a gap or everything.",
    ),
});

/**
 * Where a returning client stands: the standard header, else the field CopilotKit sends. Any spelling is passed on: what is
 * no cursor of ours is answered with everything, never with a guess.
 */
export function cursorOf(headers: Headers, lastSeenEventId?: string | number | null): string | undefined {
  const cursor = headers.get("last-event-id") ?? (lastSeenEventId == null ? "" : String(lastSeenEventId));
  return cursor === "" ? undefined : cursor;
}
