import type { Clock, UpstreamChunk } from "@throughline/ai-core";
import type { FollowEnd } from "./follow-run.js";
import type { ServerEvent } from "./server-event.js";

/** A log's past arrives in one burst; the first wait between two events is where the present begins. */
const BURST_GAP_MS = 8;

export interface MarkedEvent {
  readonly event: ServerEvent;
  readonly origin: NonNullable<UpstreamChunk["origin"]>;
}

/** Marks what a run had streamed before its reader joined. `hasBegun`: the run was under way then; else all of it is live. */
export async function* markReplayed(
  events: AsyncGenerator<ServerEvent, FollowEnd, undefined>,
  { clock, hasBegun }: { readonly clock: Clock; readonly hasBegun: boolean },
): AsyncGenerator<MarkedEvent, FollowEnd, undefined> {
  let origin: MarkedEvent["origin"] = hasBegun ? "replay" : "live";
  for (let received = 0; ; received++) {
    const askedAt = clock.now();
    const step = await events.next();
    if (step.done) return step.value;
    // The first event waits for the connection and not for the run.
    if (received > 0 && clock.now() - askedAt >= BURST_GAP_MS) origin = "live";
    yield { event: step.value, origin };
  }
}
