import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { AbstractAgent, Message } from "@ag-ui/client";
import { LangGraphAgent } from "@ag-ui/langgraph";
import { Client } from "@langchain/langgraph-sdk";
import { expect } from "vitest";
import { ensureStock } from "../../../scripts/ensure-stock.mjs";
import { startUpstreamServer, type UpstreamServer } from "../../executor/upstream-server.js";
import { schemasKnown } from "../schemas-known.js";
import { outlineOf, shownByVersion1, type View, type Watching, watch } from "../viewer.js";

const PROJECT = new URL("../graphs/langgraph.json", import.meta.url);
/** Time enough to connect in the middle of the answer, on a busy machine too. */
export const SLOW = { words: 120, paceMs: 60 };

export interface AgentOptions {
  readonly graphId?: string;
  readonly emitInterruptOutcome?: boolean;
}

/** A LangGraph server with a graph that does what its script says, and `LangGraphAgent` before it: ours, and as it is published. */
export interface AgentStage {
  readonly server: UpstreamServer;
  readonly client: Client;
  agentOn(threadId: string, options?: AgentOptions): LangGraphAgent;
  unpatchedOn(threadId: string, options?: AgentOptions): LangGraphAgent;
  newThread(): Promise<string>;
  /** A run as another program would start it, so that it can be joined. */
  startRun(threadId: string, script: object, more?: object): Promise<string>;
  ended(threadId: string, runId: string): ReturnType<Client["runs"]["get"]>;
  /** Both AG-UI versions take the events, and show the thread as the server has it. */
  expectThread(threadId: string, view: View): Promise<void>;
}

export async function startAgentStage(): Promise<AgentStage> {
  const stock = createRequire(join(await ensureStock("ag-ui-langgraph"), "package.json"));
  const { LangGraphAgent: Unpatched }: { LangGraphAgent: typeof LangGraphAgent } = stock("@ag-ui/langgraph");
  const server = await startUpstreamServer({ project: PROJECT });
  const client = new Client({ apiUrl: server.url });
  for (const graph of ["teller", "keeper"]) await schemasKnown(client, graph);

  /** The thread's own messages, in the words that a client's are compared in. */
  async function messagesOf(threadId: string) {
    const { values } = await client.threads.getState<{ messages?: { id: string; content: string }[] }>(
      threadId,
    );
    return (values.messages ?? []).map(({ id, content }) => ({ id, content }));
  }

  return {
    server,
    client,
    agentOn: (threadId, { graphId = "teller", ...more } = {}) =>
      new LangGraphAgent({ deploymentUrl: server.url, graphId, threadId, ...more }),
    unpatchedOn: (threadId, { graphId = "teller", ...more } = {}) =>
      new Unpatched({ deploymentUrl: server.url, graphId, threadId, ...more }),
    newThread: async () => (await client.threads.create()).thread_id,
    async startRun(threadId, script, more = {}) {
      const { run_id } = await client.runs.create(threadId, "teller", {
        ...asking("Tell me.", script),
        streamMode: ["events", "values", "updates", "messages-tuple"],
        streamResumable: true,
        ...more,
      });
      return run_id;
    },
    ended: (threadId, runId) =>
      until(
        () => client.runs.get(threadId, runId),
        ({ status }) => status !== "pending" && status !== "running",
      ),
    async expectThread(threadId, view) {
      expect(view.rejected).toBeUndefined();
      expect(said(view.messages)).toEqual(await messagesOf(threadId));
      const newer = await shownByVersion1(view.events);
      expect(newer.rejected).toBeUndefined();
      expect(said(newer.messages)).toEqual(said(view.messages));
      expect(newer.state).toEqual(view.state);
    },
  };
}

export const asking = (text: string, script: object) => ({
  input: { messages: [{ type: "human", content: text, id: randomUUID() }], script },
});

export async function until<Value>(
  read: () => Value | Promise<Value>,
  holds: (value: Value) => boolean,
): Promise<Value> {
  for (const deadline = Date.now() + 60_000; ; await pause(20)) {
    const value = await read();
    if (holds(value)) return value;
    if (Date.now() > deadline) throw new Error(`Not within a minute: ${JSON.stringify(value)}`);
  }
}

const said = (messages: readonly Message[]) =>
  messages.map(({ id, content }) => ({ id, content: content ?? "" }));

/** What the published agent shows of any thread: it has no connect(), and ends at once. */
export const NOTHING = { events: [], messages: [], rejected: undefined };

export async function expectNothing(agent: AbstractAgent): Promise<void> {
  expect(await watch(agent).over).toMatchObject(NOTHING);
}

/** Once a viewer's screen has this text, by a snapshot or by events. */
export const shows = ({ agent, events }: Watching, text: string) =>
  until(
    () => JSON.stringify([agent.messages, outlineOf(events), events.at(-1)]),
    (shown) => shown.includes(text),
  );

export const textIn = (events: readonly { type: string }[]) =>
  events
    .map((event) => (event.type === "TEXT_MESSAGE_CONTENT" && "delta" in event ? String(event.delta) : ""))
    .join("");
