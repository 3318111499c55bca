export interface Note {
  readonly id: string;
  readonly title: string;
  readonly text: string;
}

/** All that `search_notes` knows. Small on purpose: the researcher must be able to say that it found nothing. */
export const NOTES: readonly Note[] = [
  {
    id: "n1",
    title: "Append first, deliver after",
    text: "A log that is written before anyone is told lets every watcher read the same events in the same order. Delivery can fail and be repeated; the log cannot be contradicted.",
  },
  {
    id: "n2",
    title: "Cursors",
    text: "A cursor names a place in a log. A client that reconnects sends its cursor and gets what follows. A cursor that cannot be served must be refused aloud, or events are lost without a trace.",
  },
  {
    id: "n3",
    title: "Leases and fencing",
    text: "A lease says who may write, and for how long. A paused writer may wake up after its lease ended, so each write carries a fencing token and the store refuses an old one.",
  },
  {
    id: "n4",
    title: "Server-sent events",
    text: "Server-sent events are one HTTP response that never ends. The browser reconnects by itself and sends the last event id. Proxies may buffer, so heartbeats and the right headers matter.",
  },
  {
    id: "n5",
    title: "Backpressure",
    text: "A slow reader must not slow the others. Keep a bound per reader, drop the reader that passes it, and give it a cursor to come back with.",
  },
  {
    id: "n6",
    title: "Checkpoints of an agent",
    text: "A checkpoint holds the state of an agent after a step. After a crash the agent goes on from the last checkpoint; what was streamed since then has to be withdrawn, because the step runs again.",
  },
  {
    id: "n7",
    title: "Idempotency",
    text: "Anything that may be retried needs a key that names the intent. The second request with the same key gets the first one's result. Tool calls of an agent run at least once, so their call id is the key.",
  },
  {
    id: "n8",
    title: "Human in the loop",
    text: "An agent that waits for a person stores its question and ends its run. The answer starts a new run from the same checkpoint. Two answers to one question are a conflict, not a race.",
  },
];
