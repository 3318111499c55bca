// The agent as it is installed: what these tests see is the patch, not this folder.
import type { BaseEvent } from "@ag-ui/client";
import { LangGraphAgent } from "@ag-ui/langgraph";
import { expect, test } from "vitest";
import { JOINABLE, type StubServer, stubServer } from "./stub-client.js";

const agentOf = ({ client }: StubServer) =>
  new LangGraphAgent({ deploymentUrl: "http://stub.invalid", graphId: "graph", threadId: "t", client });

async function eventsOf(server: StubServer, forwardedProps?: object) {
  const events: BaseEvent[] = [];
  // Copies: a client goes on writing into the messages of a snapshot.
  await agentOf(server).connectAgent(
    { forwardedProps },
    { onEvent: ({ event }) => void events.push(structuredClone(event)) },
  );
  return events;
}

const typesOf = (events: readonly BaseEvent[]) =>
  events.map(({ type }) => type).filter((type) => type !== "RAW" && type !== "STATE_SNAPSHOT");

const metadata = { langgraph_node: "agent", run_id: "run" };
const word = (id: string, content: string) => ({
  id,
  event: "events",
  data: {
    event: "on_chat_model_stream",
    metadata,
    data: { chunk: { id: "m1", content, response_metadata: {} } },
  },
});

test("a thread without a run is one synthetic run around its snapshots", async () => {
  const messages = [{ id: "m0", type: "human", content: "hi" }];
  const events = await eventsOf(stubServer({ state: { values: { messages } } }));
  expect(events.map(({ type }) => type)).toEqual([
    "RUN_STARTED",
    "STATE_SNAPSHOT",
    "MESSAGES_SNAPSHOT",
    "RUN_FINISHED",
  ]);
});

const FAILED_TASK = { id: "task", name: "agent", error: '{"message":"the well is dry"}', interrupts: [] };

test("an idle thread whose last run failed finishes, with the failure in the metadata", async () => {
  const messages = [{ id: "m0", type: "human", content: "hi" }];
  const server = stubServer({ state: { values: { messages }, next: ["agent"], tasks: [FAILED_TASK] } });
  for (const opened of [1, 2]) {
    const events = await eventsOf(server);
    expect(typesOf(events), `opened ${opened}`).toEqual(["RUN_STARTED", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]);
    expect(events.at(-1)?.metadata).toEqual({
      langgraph: { lastRun: { status: "error", error: { code: "RUN_FAILED", message: "the well is dry" } } },
    });
  }
});

test("an idle thread with a failed task and an open interrupt announces the interrupt", async () => {
  const asking = { id: "asking", name: "ask", interrupts: [{ id: "i1", value: "Sure?" }] };
  const server = stubServer({ state: { next: ["agent", "ask"], tasks: [FAILED_TASK, asking] } });
  const events = await eventsOf(server);
  expect(JSON.stringify(events)).toContain("Sure?");
  expect(events.at(-1)).toMatchObject({
    type: "RUN_FINISHED",
    metadata: { langgraph: { lastRun: { error: { message: "the well is dry" } } } },
  });
});

test("a run that fails while it is watched ends the connection with RUN_ERROR", async () => {
  for (const resumable of [true, false]) {
    const fail = () => {
      server.status = "error";
      server.state = { ...server.state, tasks: [FAILED_TASK] };
    };
    const server: StubServer = stubServer({
      run: { run_id: "run", kwargs: { ...JOINABLE, resumable } },
      async *stream() {
        yield word("1", "Hel");
        fail();
      },
      reach: () => void (resumable || fail()),
    });
    const events = await eventsOf(server);
    expect(events.at(-1), `resumable: ${resumable}`).toMatchObject({
      type: "RUN_ERROR",
      code: "RUN_FAILED",
      message: "the well is dry",
    });
  }
});

test("a connection that breaks is joined again where it broke, and the client notices nothing", async () => {
  const server = stubServer({
    run: { run_id: "run", kwargs: JOINABLE },
    async *stream(joined) {
      if (joined === 0) {
        yield { id: "0", event: "metadata", data: { run_id: "run" } };
        yield word("1", "Hel");
        throw new TypeError("terminated");
      }
      yield word("2", "lo");
      server.status = "success";
      server.state = { ...server.state, values: { messages: [{ id: "m1", type: "ai", content: "Hello" }] } };
    },
  });
  const events = await eventsOf(server);
  expect(server.joins).toEqual(["-1", "1"]);
  expect(events.at(-1)).toMatchObject({ type: "RUN_FINISHED", runId: "run" });
  const told = events.flatMap((event) => ("delta" in event ? [event.delta] : [])).join("");
  const [prelude] = events.filter(({ type }) => type === "MESSAGES_SNAPSHOT");
  expect(JSON.stringify(prelude)).toContain('"content":"Hel"');
  expect(told).toBe("lo");
});

test("a run that starts while it is looked for is found", async () => {
  const server = stubServer({
    run: { run_id: "run", kwargs: JOINABLE },
    listed: (stub) => {
      if (stub.status === "pending") stub.status = "running";
    },
    async *stream() {
      yield word("1", "Hel");
      server.status = "success";
    },
  });
  server.status = "pending";
  expect((await eventsOf(server))[0]).toMatchObject({ type: "RUN_STARTED", runId: "run" });
});

test("a server that stays away ends the connection with a RUN_ERROR", async () => {
  const server = stubServer({
    run: { run_id: "run", kwargs: JOINABLE },
    async *stream() {
      yield word("1", "Hel");
      throw new TypeError("terminated");
    },
    reach() {
      throw new TypeError("fetch failed");
    },
  });
  const events = await eventsOf(server);
  expect(events.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "UPSTREAM_UNAVAILABLE" });
});

test("a run that is not resumable is not joined", async () => {
  const server = stubServer({
    run: { run_id: "run", kwargs: { ...JOINABLE, resumable: false } },
    reach() {
      server.status = "success";
    },
  });
  expect(typesOf(await eventsOf(server))).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
  expect(server.joins).toEqual([]);
});

test("leaving aborts the stream, and says no more", async () => {
  let aborted: AbortSignal | undefined;
  const server = stubServer({
    run: { run_id: "run", kwargs: JOINABLE },
    async *stream(_, signal) {
      aborted = signal;
      yield word("1", "Hel");
      await new Promise((resolve) => signal?.addEventListener("abort", resolve));
    },
  });
  const agent = agentOf(server);
  let left: Promise<void> | undefined;
  await agent.connectAgent(
    {},
    {
      onMessagesSnapshotEvent: () => {
        left ??= agent.detachActiveRun();
      },
    },
  );
  await left;
  expect(aborted?.aborted).toBe(true);
  expect(server.cancelled).toEqual([]);
});

test("a stop that comes before the run's first event reaches the run", async () => {
  const server = stubServer({
    async *stream() {
      agent.abortRun();
      yield { id: "0", event: "metadata", data: { run_id: "server-run" } };
    },
  });
  const agent = agentOf(server);
  await agent.runAgent();
  expect(server.cancelled).toEqual(["server-run"]);
});

test("a position is told with RAW events and read back, also a bare one and one of another run", async () => {
  const server = stubServer({
    run: { run_id: "run", kwargs: JOINABLE },
    async *stream() {
      for (const id of ["1", "2", "3", "4"]) yield word(id, `w${id} `);
      server.status = "success";
    },
  });
  for (const [lastEventId, told] of [
    ["run:2", "w3 w4 "],
    ["3", "w4 "],
    ["other:2", ""],
  ]) {
    server.status = "running";
    const events = await eventsOf(server, { lastEventId });
    const deltas = events.flatMap((event) => ("delta" in event ? [event.delta] : []));
    expect(deltas.join(""), lastEventId).toBe(told);
    if (told !== "") expect(JSON.stringify(events)).toContain('"lastEventId":"run:');
  }
});
