import {
  AbstractAgent as Agent00,
  type BaseEvent as Event00,
  EventSchemas as Schemas00,
} from "@ag-ui/client";
import { AbstractAgent as Agent10, type BaseEvent as Event10 } from "@ag-ui/client-1";
import { from, type Observable } from "rxjs";
import type { StockAgent } from "./stock-agent.js";

export type Line = "0.0" | "1.0";

class Fed00 extends Agent00 {
  fed: readonly Event00[] = [];
  override run(): Observable<Event00> {
    return from(this.fed);
  }
}

class Fed10 extends Agent10 {
  fed: readonly Event10[] = [];
  override run(): Observable<Event10> {
    return from(this.fed);
  }
}

/** What a stock client holds, fed by hand: one connection after the other, each as far as it came. */
export interface AppliedView {
  readonly messages: readonly unknown[];
  readonly state: unknown;
  /** Throws what the client throws: an event out of order, or one it does not know. `resume`: the answers it sent. */
  connection(events: readonly object[], resume?: readonly unknown[]): Promise<void>;
}

export function appliedView(line: Line): AppliedView {
  if (line === "0.0") {
    const agent = new Fed00({ threadId: "fed" });
    return view(agent, (events) => {
      agent.fed = events.map((event) => Schemas00.parse(event));
    });
  }
  const agent = new Fed10({ threadId: "fed" });
  return view(agent, (events) => {
    // This line checks what it is fed itself.
    agent.fed = events as readonly Event10[];
  });
}

function view(agent: StockAgent, feed: (events: readonly object[]) => void): AppliedView {
  return {
    get messages() {
      return agent.messages;
    },
    get state() {
      return agent.state;
    },
    async connection(events, resume) {
      feed(events);
      await agent.runAgent(resume && { resume });
    },
  };
}
