import type { Clock, Interrupt } from "@throughline/ai-core";
import type { ThreadFold } from "@throughline/reading";
import {
  type ThreadDirectory,
  type ThreadListing,
  type ThreadQuery,
  type ThreadScope,
  threadKey,
} from "@throughline/thread-log";
import type { ThreadAddress } from "./thread-address.js";

export interface WaitingQuestion {
  readonly listing: ThreadListing;
  /** `undefined`: the graph was compiled to pause before a node, and goes on when it is told to. */
  readonly interrupt: Interrupt | undefined;
}

export interface WaitingPage {
  /** Newest first. */
  readonly questions: readonly WaitingQuestion[];
  readonly next: string | undefined;
}

export interface WaitingDeps {
  readonly directory: Pick<ThreadDirectory, "list">;
  /** What a thread shows. */
  readonly readFold: (
    thread: Pick<ThreadAddress, "ref" | "graphId">,
  ) => Promise<Pick<ThreadFold, "run" | "interrupts">>;
  readonly clock: Clock;
}

/** Lists what waits for people in a scope. A page has the questions of `limit` threads. */
export type WaitingQuestions = (
  scope: ThreadScope,
  query: Pick<ThreadQuery, "graphId" | "limit" | "after">,
) => Promise<WaitingPage>;

const MAX_KNOWN = 500;
/** A console asks more often. What was deleted is gone from memory, too, after this. */
const KEPT_MS = 60_000;
/** Of one thread's questions, as JSON: longer ones are read anew each time. */
const MAX_KEPT = 64_000;
const READ_AT_ONCE = 8;

interface KnownQuestions {
  readonly token: bigint;
  readonly usedAt: number;
  readonly interrupts: readonly (Interrupt | undefined)[];
}

/**
 * One statement a page, by an index that holds only threads that wait. What they ask is in their logs, and stays the same until
 * another lease is taken on the thread: it is read once and known by that lease's token.
 */
export function createWaitingQuestions({ directory, readFold, clock }: WaitingDeps): WaitingQuestions {
  /** The one that was asked for longest ago first. */
  const known = new Map<string, KnownQuestions>();

  async function interruptsOf({
    thread,
    graphId,
    token,
  }: ThreadListing): Promise<KnownQuestions["interrupts"]> {
    const key = threadKey(thread);
    const usedAt = clock.now();
    const kept = known.get(key);
    known.delete(key);
    if (kept?.token === token) {
      known.set(key, { ...kept, usedAt });
      return kept.interrupts;
    }
    const { run, interrupts } = await readFold({ ref: thread, graphId });
    // It was answered, or deleted, since it was listed.
    if (!run || run.open) return [];
    const asked = interrupts.length > 0 ? interrupts : [undefined];
    if (JSON.stringify(asked).length <= MAX_KEPT) known.set(key, { token, usedAt, interrupts: asked });
    return asked;
  }

  function dropUnused(): void {
    for (const [key, { usedAt }] of known) {
      if (known.size <= MAX_KNOWN && usedAt > clock.now() - KEPT_MS) return;
      known.delete(key);
    }
  }

  return async (scope, query) => {
    dropUnused();
    const { threads, next } = await directory.list(scope, { ...query, status: "waiting", isArchived: false });
    const questions: WaitingQuestion[] = [];
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
