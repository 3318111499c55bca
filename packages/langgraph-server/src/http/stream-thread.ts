import { type Clock, type ErrorCode, ThroughlineError, type Timer } from "@throughline/ai-core";
import { z } from "zod";
import type { SubscribeOptions, SubscriptionEnd, ThreadStreams } from "../streams/stream-types.js";
import type { ThreadAddress } from "../threads/thread-address.js";
import { parseQuery, type RouteContext } from "./request.js";
import { type SseStream, whenClosed } from "./sse-stream.js";

/** The reason for which a stream ends: the subscription's, or the expiry of its token. */
export type StreamEnd = SubscriptionEnd | { readonly reason: "expired"; readonly runOpen: boolean };

export interface StreamSubscription {
  readonly hub: ThreadStreams;
  readonly clock: Clock;
  readonly thread: ThreadAddress;
  readonly options: SubscribeOptions;
  readonly stream: SseStream;
  readonly expiresAt: number | undefined;
  /** The frames that a reader must still receive, given whether it got any. */
  readonly finalFrames: (end: StreamEnd, hasFrames: boolean) => readonly Buffer[];
}

/** The longest delay of a Node timer; a longer one fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Subscribes a reader to a thread until either ends. The hub never waits; the stream decides which reader is too slow. */
export function subscribeOnStream({
  hub,
  clock,
  thread,
  options,
  stream,
  expiresAt,
  finalFrames,
}: StreamSubscription): void {
  let hasFrames = false;
  let expiry: Timer | undefined;

  function finish(reason: StreamEnd): void {
    const frames = finalFrames(reason, hasFrames);
    if (frames.length > 0) stream.write(frames);
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

type EarlyReason = Exclude<StreamEnd["reason"], "done">;

const END_ERRORS: Readonly<Record<EarlyReason, { readonly code: ErrorCode; readonly message: string }>> = {
  deleted: { code: "not_found", message: "The thread was deleted." },
  shutting_down: {
    code: "shutting_down",
    message: "This instance is shutting down. Reconnect to go on elsewhere.",
  },
  failed: { code: "internal", message: "The stream broke on our side. Reconnect to go on." },
  expired: { code: "unauthorized", message: "The token expired. Sign in and reconnect to go on." },
};

/** The error of a stream that ended early, for every encoder. */
export function streamEndError(reason: EarlyReason): ThroughlineError {
  const { code, message } = END_ERRORS[reason];
  return new ThroughlineError(code, message);
}

export const followQuerySchema = z.object({
  follow: z
    .enum(["", "1", "true", "0", "false"])
    .optional()
    .describe("Whether the stream goes on after what there is now, over many runs."),
});

/** Reads the `follow` parameter, `undefined` where it is absent. */
export function followOf(c: RouteContext): boolean | undefined {
  const { follow } = parseQuery(c, followQuerySchema);
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
 * Reads the cursor of a reconnecting client: the standard header, else the field CopilotKit sends. Any text is passed on: what is
 * no cursor of ours gets everything, never a guess.
 */
export function cursorOf(headers: Headers, lastSeenEventId?: string | number | null): string | undefined {
  const cursor = headers.get("last-event-id") ?? (lastSeenEventId == null ? "" : String(lastSeenEventId));
  return cursor === "" ? undefined : cursor;
}
