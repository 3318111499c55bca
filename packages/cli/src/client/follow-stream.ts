import { type Clock, ThroughlineError } from "@throughline/ai-core";
import { readEvents, type StreamEvent } from "./read-events.js";

export interface FollowedStream {
  /** Asks for the stream, from behind the event of this id. */
  open(lastEventId: string | undefined, signal: AbortSignal): Promise<Response>;
  onConnected(): void;
  /** `done`: all that was wanted has come. `again`: the server says that the rest is to be had from another connection. */
  onEvent(event: StreamEvent): "more" | "done" | "again";
  /** The connection broke; it is tried again until the person leaves. */
  onLost(): void;
  onFoundAgain(): void;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** 0 up to, and not including, 1. */
  readonly random: () => number;
}

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5_000;

/** Reads a stream to its end over any number of connections. The first must succeed: a wrong address is told at once. */
export async function followStream(stream: FollowedStream): Promise<void> {
  const { signal, clock, random } = stream;
  let cursor: string | undefined;
  let failures = 0;
  let hasConnected = false;
  while (!signal.aborted) {
    try {
      const response = await stream.open(cursor, signal);
      if (failures > 0) stream.onFoundAgain();
      hasConnected = true;
      stream.onConnected();
      for await (const event of readEvents(response, clock)) {
        failures = 0;
        if (event.id !== undefined) cursor = event.id;
        const next = stream.onEvent(event);
        if (next === "done") return;
        if (next === "again") break;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!hasConnected || !isPassing(error)) throw error;
    }
    if (failures === 0) stream.onLost();
    failures += 1;
    const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1));
    await wait(longest * (0.5 + random() / 2), clock, signal);
  }
}

/** A server that is gone, restarts or is busy may be there next time; one that refuses will refuse again. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof ThroughlineError)) return true;
  return ["upstream_unavailable", "shutting_down", "internal", "rate_limited"].includes(error.code);
}

function wait(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      timer.cancel();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = clock.schedule(ms, end);
    signal.addEventListener("abort", end);
  });
}
