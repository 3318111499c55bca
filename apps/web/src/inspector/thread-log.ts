import { nextFrame } from "@throughline/agent-client";
import type { Envelope } from "@throughline/ai-core";
import { cursorPlace } from "./cursor-place";
import { readSse, type SseMessage } from "./read-sse";

export interface LoggedEnvelope {
  readonly cursor: string;
  /** When it arrived here, in milliseconds. */
  readonly at: number;
  readonly envelope: Envelope;
  /** As it came: what is searched, and what is copied. */
  readonly text: string;
}

export type LogStatus = "closed" | "connecting" | "live" | "reconnecting" | "over";

export interface ThreadLogSnapshot {
  /** Only ever added to within one generation; a snapshot looks no further than its own `count`. */
  readonly entries: readonly LoggedEnvelope[];
  readonly count: number;
  /** Another one: what was there before is not the beginning of what is there now. */
  readonly generation: number;
  readonly status: LogStatus;
}

export interface ThreadLog {
  /** The stream is open while somebody listens. */
  subscribe(listener: () => void): () => void;
  getSnapshot(): ThreadLogSnapshot;
}

export interface ThreadLogOptions {
  readonly url: string;
  readonly fetch?: typeof fetch;
  readonly now?: () => number;
  readonly schedule?: (callback: () => void) => () => void;
  readonly retryMs?: (attempt: number) => number;
}

export const CLOSED_LOG: ThreadLogSnapshot = { entries: [], count: 0, generation: 0, status: "closed" };

const MAX_KEPT = 200_000;
const doubling = (attempt: number) => Math.min(10_000, 500 * 2 ** attempt) * (0.75 + Math.random() / 2);

/** A thread's log as the service keeps it, from its beginning, then live. */
export function createThreadLog(options: ThreadLogOptions): ThreadLog {
  const { url, now = Date.now, schedule = nextFrame, retryMs = doubling } = options;
  const ask = options.fetch ?? fetch;
  const listeners = new Set<() => void>();
  let entries: LoggedEnvelope[] = [];
  let generation = 0;
  let status: LogStatus = "closed";
  let snapshot = CLOSED_LOG;
  let leaving: AbortController | undefined;
  let isTelling = false;

  function changed(): void {
    if (isTelling) return;
    isTelling = true;
    schedule(() => {
      isTelling = false;
      snapshot = { entries, count: entries.length, generation, status };
      for (const listener of [...listeners]) listener();
    });
  }

  function become(next: LogStatus): void {
    if (status === next) return;
    status = next;
    changed();
  }

  function take(message: SseMessage): void {
    if (message.id === undefined) return;
    const place = cursorPlace(message.id);
    const last = cursorPlace(entries.at(-1)?.cursor);
    if (place && last) {
      if (place.epoch !== last.epoch) restart([]);
      else if (place.seq <= last.seq) return;
    }
    const envelope = parseEnvelope(message.data);
    if (!envelope) return;
    if (entries.length >= MAX_KEPT) restart(entries.slice(MAX_KEPT / 2));
    entries.push({ cursor: message.id, at: now(), envelope, text: message.data });
  }

  function restart(kept: LoggedEnvelope[]): void {
    entries = kept;
    generation += 1;
  }

  /** `true`: it is over for good. */
  async function readOnce(signal: AbortSignal): Promise<boolean> {
    const cursor = entries.at(-1)?.cursor;
    const answer = await ask(url, {
      signal,
      headers: { accept: "text/event-stream", ...(cursor !== undefined && { "last-event-id": cursor }) },
    });
    if (answer.status === 401 || answer.status === 403 || answer.status === 404) return true;
    if (!answer.ok || !answer.body) return false;
    become("live");
    for await (const messages of readSse(answer.body)) {
      if (signal.aborted) return true;
      for (const message of messages) {
        // The thread was deleted: whoever came back would come back for ever.
        if (message.event === "error" && message.id === undefined) return true;
        take(message);
      }
      changed();
    }
    return false;
  }

  async function follow(signal: AbortSignal): Promise<void> {
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      const before = entries.length;
      const isOver = await readOnce(signal).catch(() => false);
      if (signal.aborted) return;
      if (isOver) {
        become("over");
        return;
      }
      if (entries.length > before) attempt = 0;
      become("reconnecting");
      await pause(retryMs(attempt), signal);
    }
  }

  return {
    getSnapshot: () => snapshot,
    subscribe(listener) {
      listeners.add(listener);
      if (!leaving) {
        leaving = new AbortController();
        become("connecting");
        void follow(leaving.signal);
      }
      return () => {
        listeners.delete(listener);
        // Effects that are undone and done again at once hold on to the stream.
        setTimeout(() => {
          if (listeners.size > 0 || !leaving) return;
          leaving.abort();
          leaving = undefined;
          status = "closed";
          restart([]);
          snapshot = { ...CLOSED_LOG, generation };
        }, 0);
      };
    },
  };
}

/** Only its type is looked at: the service's own entries, and nobody else's, come here. */
function parseEnvelope(data: string): Envelope | undefined {
  try {
    const envelope: Envelope | null = JSON.parse(data);
    return typeof envelope?.type === "string" ? envelope : undefined;
  } catch {
    return undefined;
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
