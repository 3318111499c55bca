import { createParser, type EventSourceMessage } from "eventsource-parser";

export interface SseEvent {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: Record<string, unknown>;
}

/** Events of a response as they arrive; leaving the loop closes the connection. */
export async function* sseEvents(response: Response): AsyncGenerator<SseEvent> {
  if (!response.body) return;
  const ready: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => void ready.push(event) });
  const decoder = new TextDecoder();
  for await (const chunk of response.body) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    for (const { id, event, data } of ready.splice(0)) {
      // The AI SDK's mark of a stream's end.
      if (data !== "[DONE]") yield { id, event, data: JSON.parse(data) };
    }
  }
}

/** All events to the end of the stream, or up to and including the first that `until` accepts. */
export async function readEvents(
  response: Response,
  until: (event: SseEvent) => boolean = () => false,
): Promise<SseEvent[]> {
  const events: SseEvent[] = [];
  for await (const event of sseEvents(response)) {
    events.push(event);
    if (until(event)) break;
  }
  return events;
}

export function typesOf(events: readonly SseEvent[]): unknown[] {
  return events.map(({ data }) => data.type);
}

export const isType =
  (type: string) =>
  ({ data }: SseEvent): boolean =>
    data.type === type;
