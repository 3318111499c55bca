import { AbstractAgent, type BaseEvent, EventSchemas } from "@ag-ui/client";
import { from, type Observable } from "rxjs";
import type { RecordedFrame } from "./frame-recorder.js";

export interface StockView {
  readonly messages: readonly { readonly id: string; readonly role: string; readonly content?: unknown }[];
  readonly state: unknown;
}

class Replay extends AbstractAgent {
  readonly #events: readonly BaseEvent[];

  constructor(events: readonly BaseEvent[]) {
    super({ threadId: "replay" });
    this.#events = events;
  }

  override run(): Observable<BaseEvent> {
    return from(this.#events);
  }
}

/** What a stock client shows after these frames. Throws what it throws: an event out of order, or one it does not know. */
export async function stockView(frames: readonly RecordedFrame[]): Promise<StockView> {
  const events = frames.map(({ data }) => EventSchemas.parse(data));
  const agent = new Replay(events);
  await agent.runAgent();
  return { messages: agent.messages, state: agent.state };
}
