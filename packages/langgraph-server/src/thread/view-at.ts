import { type LogPosition, ThroughlineError } from "@throughline/ai-core";
import type { ThreadAddress } from "./thread-address.js";
import type { TakenView, ThreadViews } from "./thread-views.js";

/** How often a view that has ended, or is of another epoch, is replaced. */
const MAX_TRIES = 3;

/**
 * Takes the thread's view once its fold includes this position. To be released. Waits while the store is away; `undefined` when
 * the signal was aborted first. Throws `shutting_down` when the instance closes.
 */
export async function viewAt(
  views: ThreadViews,
  thread: ThreadAddress,
  head: LogPosition | undefined,
): Promise<TakenView>;
export async function viewAt(
  views: ThreadViews,
  thread: ThreadAddress,
  head: LogPosition | undefined,
  signal: AbortSignal,
): Promise<TakenView | undefined>;
export async function viewAt(
  views: ThreadViews,
  thread: ThreadAddress,
  head: LogPosition | undefined,
  signal?: AbortSignal,
): Promise<TakenView | undefined> {
  for (let tries = 1; ; tries += 1) {
    const taken = views.take(thread);
    const { view } = taken;
    await orAborted(view.ready(), signal);
    const position = view.position();
    if (isOfAnotherEpoch(position, head)) view.end("gap");
    else await orAborted(view.reached(head), signal);
    const end = view.endedWith();
    if (!signal?.aborted && end === undefined) return taken;
    taken.release();
    if (signal?.aborted) return undefined;
    // An ended view may hold nothing: what it shows must not be taken for the thread.
    if (end === "shutting_down") throw new ThroughlineError(end, "This instance is shutting down.");
    if (tries === MAX_TRIES) throw new ThroughlineError("internal", "The thread could not be read.");
  }
}

/** The thread was deleted or its epoch renewed, and the view has not heard of it yet. Two empty logs are alike. */
function isOfAnotherEpoch(position: LogPosition | undefined, head: LogPosition | undefined): boolean {
  if (position === undefined || head === undefined || position.epoch === head.epoch) return false;
  return position.seq > 0 || head.seq > 0;
}

async function orAborted(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (!signal) return work;
  let stop = () => {};
  const aborted = new Promise<void>((resolve) => {
    stop = resolve;
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) resolve();
  });
  await Promise.race([work, aborted]);
  signal.removeEventListener("abort", stop);
}
