import type { Client } from "@langchain/langgraph-sdk";
import type { Clock } from "@throughline/ai-core";
import type { ServerEvent } from "./server-event.js";

/** A run as the server names it. */
export interface UpstreamRun {
  readonly threadId: string;
  readonly upstreamRunId: string;
}

export type ReaderStep =
  | { readonly kind: "event"; readonly event: ServerEvent }
  /** Nothing came within the time asked for; what comes later is not lost. */
  | { readonly kind: "quiet" }
  /** The server ended the stream. */
  | { readonly kind: "closed" }
  /** The connection broke, or was never made. */
  | { readonly kind: "cut"; readonly error: unknown };

/** One connection to a run's stream. The server sends no pings, so every read has its own timeout. */
export interface RunReader {
  next(waitMs: number, hurry?: AbortSignal): Promise<ReaderStep>;
  leave(): void;
}

export function openRunReader(
  client: Client,
  clock: Clock,
  { threadId, upstreamRunId }: UpstreamRun,
  lastEventId: string,
): RunReader {
  const leaving = new AbortController();
  const events = client.runs.joinStream(threadId, upstreamRunId, {
    // Without this header the first join of a pending run makes its log unreplayable for everyone.
    lastEventId,
    signal: leaving.signal,
    streamIdleReconnect: 0,
  });
  let ahead: Promise<ReaderStep> | undefined;

  const read = (): Promise<ReaderStep> =>
    events.next().then(
      ({ done, value }): ReaderStep => (done ? { kind: "closed" } : { kind: "event", event: value }),
      (error: unknown): ReaderStep => ({ kind: "cut", error }),
    );

  return {
    async next(waitMs, hurry) {
      ahead ??= read();
      const step = await within(ahead, clock, waitMs, hurry);
      if (step.kind !== "quiet") ahead = undefined;
      return step;
    },
    leave: () => leaving.abort(),
  };
}

function within(
  step: Promise<ReaderStep>,
  clock: Clock,
  waitMs: number,
  hurry: AbortSignal | undefined,
): Promise<ReaderStep> {
  return new Promise((resolve) => {
    const settle = (value: ReaderStep) => {
      timer.cancel();
      hurry?.removeEventListener("abort", giveUp);
      resolve(value);
    };
    const giveUp = () => settle({ kind: "quiet" });
    const timer = clock.schedule(hurry?.aborted ? 0 : waitMs, giveUp);
    hurry?.addEventListener("abort", giveUp, { once: true });
    void step.then(settle);
  });
}
