import { type Clock, ThroughlineError } from "@throughline/ai-core";
import { createParser, type EventSourceMessage } from "eventsource-parser";

export interface StreamEvent {
  readonly id: string | undefined;
  readonly data: unknown;
}

/** Heartbeats come every 5 s: a stream that is silent for so long is dead, whatever the socket believes. */
const SILENCE_MS = 20_000;

/** The events of a stream as they arrive; leaving the loop closes the connection. */
export async function* readEvents(response: Response, clock: Clock): AsyncGenerator<StreamEvent> {
  if (!response.body) return;
  const ready: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => void ready.push(event) });
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  try {
    for (;;) {
      const { done, value } = await withinSilence(reader.read(), clock);
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      for (const { id, data } of ready.splice(0)) yield { id, data: JSON.parse(data) };
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

async function withinSilence<Value>(read: Promise<Value>, clock: Clock): Promise<Value> {
  let stop = () => {};
  const silence = new Promise<never>((_, reject) => {
    const timer = clock.schedule(SILENCE_MS, () =>
      reject(new ThroughlineError("upstream_unavailable", "The server fell silent.")),
    );
    stop = () => timer.cancel();
  });
  // Whichever loses must not end the process later.
  read.catch(() => {});
  return Promise.race([read, silence]).finally(stop);
}
