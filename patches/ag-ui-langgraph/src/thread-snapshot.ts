import { EventType, type Message } from "@ag-ui/client";
import type { ThreadState } from "@langchain/langgraph-sdk";
import { orMissing } from "./follow-run.js";
import type { ProcessedEvents, LangGraphAgent as PublishedAgent, State } from "./index.mjs";

/** A thread as its checkpoint has it, and what tells a client so. */
export interface ThreadSnapshot {
  readonly state: ThreadState<State>;
  readonly events: readonly ProcessedEvents[];
  readonly messages: readonly Message[];
}

/** The thread now; one that the server does not know yet is an empty one. */
export async function readSnapshot(agent: PublishedAgent, threadId: string): Promise<ThreadSnapshot> {
  const state = (await orMissing(agent.client.threads.getState<State>(threadId))) ?? EMPTY_STATE;
  const events = await snapshotEvents(agent, state);
  const messages = events.flatMap((event) =>
    event.type === EventType.MESSAGES_SNAPSHOT ? event.messages : [],
  );
  const worthTelling = events.filter(
    ({ type }) => type !== EventType.MESSAGES_SNAPSHOT || messages.length > 0,
  );
  return { state, events: worthTelling, messages };
}

/** What tells a client that these are the thread's messages. */
export async function messagesSnapshot(
  agent: PublishedAgent,
  messages: readonly unknown[],
): Promise<ProcessedEvents | undefined> {
  const events = await snapshotEvents(agent, { ...EMPTY_STATE, values: { messages } });
  return events.find(({ type }) => type === EventType.MESSAGES_SNAPSHOT);
}

/**
 * The published method reads the state itself and dispatches what it makes of it. It is given what was read here, so that
 * snapshots, questions and failures are of one moment.
 */
async function snapshotEvents(agent: PublishedAgent, state: ThreadState<State>): Promise<ProcessedEvents[]> {
  const events: ProcessedEvents[] = [];
  const reader: PublishedAgent = Object.create(agent);
  Object.assign(reader, {
    client: { threads: { getState: async () => state } },
    dispatchEvent: (event: ProcessedEvents) => events.push(event) > 0,
  });
  // biome-ignore lint/complexity/useLiteralKeys: private in the published class.
  await reader["getStateAndMessagesSnapshots"]("");
  return events;
}

const EMPTY_STATE: ThreadState<State> = {
  values: {},
  next: [],
  tasks: [],
  metadata: null,
  created_at: null,
  checkpoint: { thread_id: "", checkpoint_ns: "", checkpoint_id: null, checkpoint_map: null },
  parent_checkpoint: null,
};
