import type { LogPosition } from "@throughline/ai-core";
import type { ThreadAddress } from "./thread-address.js";
import type { TakenView, ThreadViews } from "./thread-views.js";

/** A view of another epoch is replaced this often before its fold is taken as it is. */
const MAX_TRIES = 3;

/** Takes the thread's view once its fold includes this position. To be released. */
export async function viewAt(
  views: ThreadViews,
  thread: ThreadAddress,
  head: LogPosition | undefined,
): Promise<TakenView> {
  for (let tries = 1; ; tries += 1) {
    const taken = views.take(thread);
    await taken.view.ready();
    const position = taken.view.position();
    // The thread was deleted or its epoch renewed, and the view has not heard of it yet.
    const isOld = head !== undefined && position !== undefined && position.epoch !== head.epoch;
    if (isOld && tries < MAX_TRIES) taken.view.end("gap");
    else await taken.view.reached(head);
    const end = taken.view.endedWith();
    if (end === undefined || end === "shutting_down" || tries === MAX_TRIES) return taken;
    taken.release();
  }
}
