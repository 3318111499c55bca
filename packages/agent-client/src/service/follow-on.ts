import type { StreamFailure } from "../connection/connection.js";
import type { StreamEvent } from "../wire/event-parser.js";
import { readEventStream } from "../wire/read-event-stream.js";
import { type AskService, failureOf } from "./http-request.js";
import type { FollowedThread, FollowSink, StreamEnd } from "./service-port.js";

type Refusal = Extract<StreamFailure, { kind: "refused" }>;

/** Follows threads by `POST /follow`, section 10 of the protocol. */
export async function followOn(
  request: AskService,
  face: object,
  threads: readonly FollowedThread[],
  signal: AbortSignal,
  sink: FollowSink,
): Promise<StreamEnd> {
  try {
    const response = await request("/follow", {
      body: JSON.stringify({ ...face, subscriptions: threads }),
      signal,
    });
    const failure = await failureOf(response);
    if (failure) return { kind: "failed", failure };
    if (response.body) {
      sink.opened();
      await readEventStream(response.body, {
        heard: sink.heard,
        events: (events) => tell(events, sink),
      });
      return { kind: "ended" };
    }
  } catch {
    // Never reached, or broken off.
  }
  return { kind: "failed", failure: { kind: "network" } };
}

/** Events of one read, by the thread they are of: what comes together is shown together. */
function tell(events: readonly StreamEvent[], sink: FollowSink): void {
  for (let from = 0; from < events.length; ) {
    const name = events[from]?.event;
    let to = from + 1;
    while (to < events.length && events[to]?.event === name) to += 1;
    const same = from === 0 && to === events.length ? events : events.slice(from, to);
    from = to;
    if (name === "end") for (const { data } of same) tellEnd(data, sink);
    else sink.events(Number(name), same);
  }
}

function tellEnd(data: string, sink: FollowSink): void {
  // A parsed boundary: the service's own word.
  const { subscription, details, ...refusal } = JSON.parse(data) as Omit<Refusal, "kind"> & {
    readonly subscription: number;
    readonly details?: Pick<Refusal, "retryAfterMs">;
  };
  sink.ended(subscription, { kind: "refused", ...refusal, ...details });
}
