import { setTimeout as delay } from "node:timers/promises";
import { type SseEvent, sseEvents } from "../../../packages/langgraph-server/src/testing/sse-events.js";

/** An HTTP client that reads a thread up to a frame it is told, over as many connections as it takes. */
export interface Viewer {
  /** What each connection brought, in order. */
  readonly connections: readonly (readonly SseEvent[])[];
  /** Streams that ended before the last frame. */
  reconnects(): number;
  /** When the last frame was seen, by `performance.now()`. */
  endedAt(): number | undefined;
  /** Resolves with the last frame. */
  readonly ended: Promise<SseEvent>;
  /** Resolves with the first event, past or to come, that matches. */
  seen(matches: (event: SseEvent) => boolean): Promise<SseEvent>;
  leave(): void;
}

export interface ViewerOptions {
  /** The frame after which it leaves. */
  readonly isLast: (event: SseEvent) => boolean;
  /** Opens a stream. `cursor`: the id of the last frame that had one. */
  readonly open: (cursor: string | undefined, signal: AbortSignal) => Promise<Response>;
}

const RETRY_MS = 200;

/** Reconnects with its last event id whenever its stream ends without the last frame, as `EventSource` does. */
export function openViewer({ isLast, open }: ViewerOptions): Viewer {
  const connections: SseEvent[][] = [];
  const waiting = new Set<{ matches: (event: SseEvent) => boolean; resolve: (event: SseEvent) => void }>();
  const leaving = new AbortController();
  let cursor: string | undefined;
  let broken = 0;
  let endedAt: number | undefined;

  /** Gives whether the last frame came. */
  async function readOnce(): Promise<boolean> {
    const response = await open(cursor, leaving.signal);
    if (!response.ok) {
      await response.body?.cancel();
      return false;
    }
    const connection: SseEvent[] = [];
    connections.push(connection);
    try {
      for await (const event of sseEvents(response)) {
        connection.push(event);
        cursor = event.id ?? cursor;
        const isOver = isLast(event);
        if (isOver) endedAt = performance.now();
        tell(event);
        if (isOver) return true;
      }
    } finally {
      if (endedAt === undefined && !leaving.signal.aborted) broken += 1;
    }
    return false;
  }

  function tell(event: SseEvent): void {
    for (const waiter of waiting) {
      if (!waiter.matches(event)) continue;
      waiting.delete(waiter);
      waiter.resolve(event);
    }
  }

  async function view(): Promise<void> {
    while (!leaving.signal.aborted) {
      // A cut, a refused connection and a 503 are all the same to it: it tries again.
      if (await readOnce().catch(() => false)) return;
      await delay(RETRY_MS);
    }
  }

  function seen(matches: (event: SseEvent) => boolean): Promise<SseEvent> {
    const past = connections.flat().find(matches);
    return past ? Promise.resolve(past) : new Promise((resolve) => waiting.add({ matches, resolve }));
  }

  const ended = seen(isLast);
  void view();
  return {
    connections,
    reconnects: () => broken,
    endedAt: () => endedAt,
    ended,
    seen,
    leave: () => leaving.abort(),
  };
}

/** The run's own last frame. What has no id is not in the log: a stream's last words, not the run's. */
export function isTerminal({ id, data }: SseEvent, runId: string): boolean {
  if (id === undefined) return false;
  return data.type === "RUN_ERROR" || (data.type === "RUN_FINISHED" && data.runId === runId);
}
