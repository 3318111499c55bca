import { AbstractAgent, type BaseEvent, EventSchemas } from "@ag-ui/client";
import { from, type Observable } from "rxjs";
import { messageLines } from "../server/stock/message-lines.js";
import type { Frame } from "./recorded-watch.js";

class Replay extends AbstractAgent {
  readonly #streams: BaseEvent[][];

  constructor(streams: BaseEvent[][]) {
    super({ threadId: "replay" });
    this.#streams = streams;
  }

  override run(): Observable<BaseEvent> {
    return from(this.#streams.shift() ?? []);
  }
}

/**
 * What a stock client shows that came back once for each of these streams. Throws what it throws: an event out of order, or
 * one it does not know.
 */
export async function stockView(...streams: (readonly Frame[])[]): Promise<readonly string[]> {
  const agent = new Replay(streams.map((frames) => frames.map(({ data }) => EventSchemas.parse(data))));
  for (const _ of streams) await agent.runAgent();
  return messageLines(agent.messages);
}
