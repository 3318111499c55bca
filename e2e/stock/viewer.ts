import type { AbstractAgent, BaseEvent, Message, State } from "@ag-ui/client";
import { AbstractAgent as AbstractAgent1 } from "@ag-ui/client-1";
import { from, type Observable } from "rxjs";

/** What an agent's connection showed, event by event and in the end. */
export interface View {
  readonly events: readonly BaseEvent[];
  readonly messages: readonly Message[];
  readonly state: State;
  /** How `connectAgent()` ended; a stream that `verifyEvents` rejects ends with its complaint. */
  readonly rejected: string | undefined;
}

/** A connection of a stock agent that is watched while it lasts. */
export interface Watching {
  readonly agent: AbstractAgent;
  readonly events: readonly BaseEvent[];
  /** When it is over by itself or by `agent.detachActiveRun()`. */
  readonly over: Promise<View>;
}

export function watch(
  agent: AbstractAgent,
  parameters: { forwardedProps?: Record<string, unknown> } = {},
): Watching {
  const events: BaseEvent[] = [];
  // Copies: a client goes on writing into the messages of a snapshot.
  const onEvent = ({ event }: { event: BaseEvent }) => void events.push(structuredClone(event));
  const over = agent.connectAgent(parameters, { onEvent }).then(
    () => undefined,
    (error: unknown) => String(error),
  );
  return {
    agent,
    events,
    over: over.then((rejected) => ({ events, messages: agent.messages, state: agent.state, rejected })),
  };
}

/** The same events over the wire to a client of AG-UI 1.0, which verifies more. */
export async function shownByVersion1(events: readonly BaseEvent[]): Promise<View> {
  const wire: BaseEvent[] = JSON.parse(JSON.stringify(events));
  const agent = new Relay(wire);
  const rejected = await agent.connectAgent().then(
    () => undefined,
    (error: unknown) => String(error),
  );
  const { messages, state }: { messages: Message[]; state: State } = JSON.parse(
    JSON.stringify({ messages: agent.messages, state: agent.state }),
  );
  return { events, messages, state, rejected };
}

type Event1 = ReturnType<AbstractAgent1["run"]> extends Observable<infer Event> ? Event : never;

class Relay extends AbstractAgent1 {
  readonly #events: readonly BaseEvent[];

  constructor(events: readonly BaseEvent[]) {
    super();
    this.#events = events;
  }

  override run(): Observable<Event1> {
    throw new Error("only connected");
  }

  protected override connect(): Observable<Event1> {
    // Parsed JSON: what it is, the client's own checks say.
    return from(this.#events as Event1[]);
  }
}

export const typesOf = (events: readonly BaseEvent[]): string[] => events.map(({ type }) => type);

/** The kinds of events in order, each once, without those that come with every chunk. */
export function outlineOf(events: readonly BaseEvent[]): string[] {
  const types = typesOf(events).filter((type) => type !== "RAW" && !/^STEP_/.test(type));
  return types.filter((type, index) => type !== types[index - 1]);
}
