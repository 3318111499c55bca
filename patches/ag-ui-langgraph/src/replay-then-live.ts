import { objectOf, propertyOf } from "./connect-input.js";
import type { RunChunk } from "./follow-run.js";

/** How long the first event may take: a pending run has none yet. */
const FIRST_MS = 300;
/** No event for this long means that the replay is over: what a server has in store comes in one go. */
const QUIET_MS = 30;
/** A run that never pauses must not keep its viewer waiting. */
const REPLAY_LIMIT_MS = 1_000;

/**
 * Passes a run's events on and calls `live` once, between two events: where the client has read to, or else where the
 * server has no more in store. No server marks that place, and no harm comes from guessing it: what is not folded into the
 * prelude is told as events.
 */
export async function* replayThenLive<Chunk extends RunChunk>(
  source: AsyncGenerator<Chunk, void>,
  { until, live }: { readonly until: number | undefined; live(): void },
): AsyncGenerator<Chunk, void> {
  const deadline = Date.now() + REPLAY_LIMIT_MS;
  let replaying = true;
  let patience = FIRST_MS;
  const goLive = () => {
    if (!replaying) return;
    replaying = false;
    live();
  };
  try {
    while (true) {
      const next = source.next();
      if (replaying) {
        const wait = Math.min(patience, deadline - Date.now());
        if (!(await settlesWithin(next, wait))) goLive();
        patience = QUIET_MS;
      }
      const { done, value } = await next;
      if (done) break;
      // The pipeline has handled an event when it asks for the next.
      yield value;
      if (until !== undefined && Number(value.id) >= until) goLive();
    }
  } finally {
    goLive();
    await source.return();
  }
}

/** The id of the model message that a chunk of the mode `events` is about. */
export function modelMessageOf({ data }: RunChunk): string | undefined {
  const chunk = objectOf(propertyOf(objectOf(propertyOf(objectOf(data), "data")), "chunk"));
  const id = propertyOf(chunk, "id");
  return typeof id === "string" ? id : undefined;
}

async function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  if (ms <= 0) return false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const settled = promise.then(
    () => true,
    () => true,
  );
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  try {
    return await Promise.race([settled, late]);
  } finally {
    clearTimeout(timer);
  }
}
