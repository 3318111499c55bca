import { AbstractAgent, type BaseEvent } from "@ag-ui/client";
import { AbstractAgent as AbstractAgent1, type BaseEvent as BaseEvent1 } from "@ag-ui/client-1";
import { from } from "rxjs";
import type { AgUiEvent } from "../events.js";

/** A stock client of one protocol version, which checks and applies whole streams. */
export interface StockClient {
  /** Fails where the client would refuse an event. */
  take(events: readonly AgUiEvent[]): Promise<void>;
  shows(): { readonly messages: unknown; readonly state: unknown };
}

class Stock extends AbstractAgent {
  events: readonly AgUiEvent[] = [];
  override run() {
    return from(this.events as unknown as BaseEvent[]);
  }
}

class Stock1 extends AbstractAgent1 {
  events: readonly AgUiEvent[] = [];
  override run() {
    return from(this.events as unknown as BaseEvent1[]);
  }
}

export function stockClient(version: "0.0.59" | "1.0.0"): StockClient {
  const agent = version === "0.0.59" ? new Stock({ threadId: "t" }) : new Stock1({ threadId: "t" });
  return {
    async take(events) {
      agent.events = JSON.parse(JSON.stringify(events));
      if (events.length > 0) await agent.runAgent();
    },
    shows: () => ({ messages: agent.messages, state: agent.state }),
  };
}

export const VERSIONS = ["0.0.59", "1.0.0"] as const;
