import { setTimeout as delay } from "node:timers/promises";
import type { SseEvent } from "../../../packages/langgraph-server/src/testing/sse-events.js";
import type { Instance } from "./outage-stage.js";
import { type ResearcherThread, researcherThread } from "./researcher-thread.js";
import { isTerminal, openViewer, type Viewer } from "./viewer.js";

/** One run and its viewers: the one that started it, on its own instance, and a follower on the other. */
export interface WatchedRun {
  readonly thread: ResearcherThread;
  readonly home: Instance;
  readonly away: Instance;
  readonly starter: Viewer;
  readonly follower: Viewer;
}

export const viewersOf = ({ starter, follower }: WatchedRun): readonly Viewer[] => [starter, follower];

export async function startWatchedRun(
  threadId: string,
  { home, away }: Pick<WatchedRun, "home" | "away">,
): Promise<WatchedRun> {
  const thread = researcherThread(threadId);
  const isLast = (event: SseEvent) => isTerminal(event, thread.runId);
  const follower = openViewer({
    isLast,
    open: (cursor, signal) => thread.follow(away.ask, cursor, signal),
  });
  // It is there before the run begins, so that it is told all of it.
  await follower.seen(() => true);
  const starter = openViewer({
    isLast,
    open: (cursor, signal) =>
      cursor === undefined ? thread.run(home.ask, signal) : thread.follow(home.ask, cursor, signal),
  });
  return { thread, home, away, starter, follower };
}

/** A tool has answered: there are checkpoints to recover from, and more to come. */
export async function untilInTheMiddle({ starter }: WatchedRun): Promise<void> {
  await starter.seen(({ data }) => data.type === "TOOL_CALL_RESULT");
}

export function hasEnded(run: WatchedRun): boolean {
  return viewersOf(run).some((viewer) => viewer.endedAt() !== undefined);
}

/** Asks the other instance, again and again until it says yes, as clients do. Gives how many requests it took. */
export async function stopUntilAcknowledged({ thread, away }: WatchedRun): Promise<number> {
  for (let requests = 1; ; requests += 1) {
    const answer = await thread.stop(away.ask, AbortSignal.timeout(20_000)).catch(() => undefined);
    if (answer?.ok) return requests;
    await delay(200);
  }
}
