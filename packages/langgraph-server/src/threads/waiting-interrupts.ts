import type { Clock, Interrupt } from "@throughline/ai-core";
import type { ThreadProjection } from "@throughline/reading";
import {
  type ThreadDirectory,
  type ThreadListing,
  type ThreadQuery,
  type ThreadScope,
  threadKey,
} from "@throughline/thread-log";
import type { ThreadAddress } from "./thread-address.js";

export interface WaitingInterrupt {
  readonly listing: ThreadListing;
  /** `undefined`: a breakpoint; the graph was compiled to pause before a node, and resumes on request. */
  readonly interrupt: Interrupt | undefined;
}

export interface WaitingPage {
  /** Newest first. */
  readonly questions: readonly WaitingInterrupt[];
  readonly next: string | undefined;
}

export interface WaitingDeps {
  readonly directory: Pick<ThreadDirectory, "list">;
  /** Reads a thread's projection. */
  readonly readProjection: (
    thread: Pick<ThreadAddress, "ref" | "graphId">,
  ) => Promise<Pick<ThreadProjection, "run" | "interrupts">>;
  readonly clock: Clock;
}

/** Lists interrupts that wait for people in a scope. A page has those of `limit` threads. */
export type WaitingInterrupts = (
  scope: ThreadScope,
  query: Pick<ThreadQuery, "graphId" | "limit" | "after">,
) => Promise<WaitingPage>;

const MAX_KNOWN = 500;
/** How long interrupts are cached after their last use. A console polls more often. Deleted ones leave memory after this, too. */
const CACHED_MS = 60_000;
/** Most characters of one thread's interrupts, as JSON, that are cached: longer ones are reread each time. */
const MAX_CACHED = 64_000;
const READ_AT_ONCE = 8;

interface CachedInterrupts {
  readonly token: bigint;
  readonly usedAt: number;
  readonly interrupts: readonly (Interrupt | undefined)[];
}

/**
 * Reads a page with one statement, by an index that holds only waiting threads. Their interrupts are in their logs, and stay the
 * same until the thread is leased again: they are read once and cached by that lease's token.
 */
export function createWaitingInterrupts({
  directory,
  readProjection,
  clock,
}: WaitingDeps): WaitingInterrupts {
  /** Least recently used first. */
  const known = new Map<string, CachedInterrupts>();

  async function interruptsOf({
    thread,
    graphId,
    token,
  }: ThreadListing): Promise<CachedInterrupts["interrupts"]> {
    const key = threadKey(thread);
    const usedAt = clock.now();
    const cached = known.get(key);
    known.delete(key);
    if (cached?.token === token) {
      known.set(key, { ...cached, usedAt });
      return cached.interrupts;
    }
    const { run, interrupts } = await readProjection({ ref: thread, graphId });
    // It got its response, or was deleted, since it was listed.
    if (!run || run.open) return [];
    const asked = interrupts.length > 0 ? interrupts : [undefined];
    if (JSON.stringify(asked).length <= MAX_CACHED) known.set(key, { token, usedAt, interrupts: asked });
    return asked;
  }

  function dropUnused(): void {
    for (const [key, { usedAt }] of known) {
      if (known.size <= MAX_KNOWN && usedAt > clock.now() - CACHED_MS) return;
      known.delete(key);
    }
  }

  return async (scope, query) => {
    dropUnused();
    const { threads, next } = await directory.list(scope, { ...query, status: "waiting", isArchived: false });
    const questions: WaitingInterrupt[] = [];
    for (let at = 0; at < threads.length; at += READ_AT_ONCE) {
      const asked = await Promise.all(
        threads.slice(at, at + READ_AT_ONCE).map(async (listing) => {
          const interrupts = await interruptsOf(listing);
          return interrupts.map((interrupt) => ({ listing, interrupt }));
        }),
      );
      questions.push(...asked.flat());
    }
    return { questions, next };
  };
}
