import { randomUUID } from "node:crypto";
import { AIMessage } from "@langchain/core/messages";
import { Annotation, END, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { type GraphSource, graphRegistry } from "@throughline/graph-executor";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { describeEachStore } from "../../packages/langgraph-server/src/testing/describe-each-store.js";
import { readEvents, type SseEvent } from "../../packages/langgraph-server/src/testing/sse-events.js";
import { testPerson } from "../../packages/langgraph-server/src/testing/test-person.js";
import { startTestServer, type TestServer } from "../../packages/langgraph-server/src/testing/test-server.js";

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  text: Annotation<string>,
  to: Annotation<string[]>({ reducer: (known, more) => [...known, ...more], default: () => [] }),
  secret: Annotation<string>,
});

/** Lets a letter go on that was told to wait. */
const letters: { release: (() => void) | undefined } = { release: undefined };

/** Pauses before it sends what it wrote; asked to ask, it asks first. */
function letter() {
  return new StateGraph(State)
    .addNode("write", async ({ messages }) => {
      if (messages.at(-1)?.text === "wait") {
        await new Promise<void>((resolve) => {
          letters.release = resolve;
        });
        letters.release = undefined;
      }
      if (messages.at(-1)?.text === "ask") interrupt({ question: "To whom?" });
      if (messages.at(-1)?.text === "fail") throw new Error("No ink.");
      return { text: "Dear all", to: ["ann"], secret: "ink" };
    })
    .addNode("send", ({ text, to }) => ({
      messages: [new AIMessage({ id: randomUUID(), content: `${text} to ${to.join(", ")}` })],
    }))
    .addEdge(START, "write")
    .addEdge("write", "send")
    .addEdge("send", END)
    .compile({ name: "letter", interruptBefore: ["send"] });
}

const texts = { type: "array", items: { type: "string" } };
const graphs = (): GraphSource =>
  graphRegistry([
    {
      descriptor: {
        graphId: "langgraph:letter",
        graphName: "letter",
        name: "Letter",
        description: "Writes a letter.",
        capabilities: ["chat"],
        commands: [],
        inputSchema: { type: "object", properties: { messages: {} } },
        outputSchema: {
          type: "object",
          properties: { messages: {}, text: { type: "string" }, to: texts },
          required: ["text", "to"],
        },
      },
      create: letter,
    },
  ]);

const STATE = "/agents/letter/threads/t/state";

describeEachStore("The state of a thread, kept in %s,", (storeOf) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ store: storeOf(), graphs: graphs() });
  });
  afterAll(() => server.close());

  function person(account: string = randomUUID(), more: Readonly<Record<string, string>> = {}) {
    const { ask, headers } = testPerson(() => server, { "x-throughline-account": account, ...more });
    const post = (action: string, body: object, follow = "") =>
      fetch(`${server.route("letter", action)}${follow}`, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    return {
      account,
      ask,
      post,
      async say(content: string): Promise<SseEvent[]> {
        return readEvents(
          await post("run", { threadId: "t", messages: [{ id: randomUUID(), role: "user", content }] }),
        );
      },
      async idle() {
        for (;;) {
          const { body } = await ask("GET", "/agents/letter/threads/t");
          if (body.status !== "running") return body;
        }
      },
      edit: (values: unknown, body: object = {}) => ask("PATCH", STATE, { values, ...body }),
    };
  }

  async function paused(headers: Readonly<Record<string, string>> = {}) {
    const one = person(undefined, headers);
    await one.say("write");
    expect(await one.idle()).toMatchObject({ status: "waiting" });
    return one;
  }

  it("P93: is set as a person says while a graph pauses, and the graph goes on with it", async () => {
    const ann = await paused();
    const { body: before } = await ann.ask("GET", STATE);
    const edited = await ann.edit(
      { text: "Dear both", to: ["bob", "cyd"] },
      { checkpointId: before.checkpointId },
    );
    expect(edited).toMatchObject({
      status: 200,
      body: { values: { text: "Dear both", to: ["bob", "cyd"] }, next: ["send"], interrupts: [] },
    });
    expect(edited.body.checkpointId).not.toBe(before.checkpointId);
    expect(await ann.idle()).toMatchObject({ status: "waiting" });
    expect((await ann.ask("GET", "/waiting")).body.questions).toMatchObject([{ kind: "breakpoint" }]);
    await ann.ask("POST", "/agents/letter/threads/t/ask-again", {});
    expect(await ann.idle()).toMatchObject({ status: "idle" });
    const { body: after } = await ann.ask("GET", STATE);
    expect(after.messages.at(-1).content).toBe("Dear both to bob, cyd");
  });

  it("P94: reaches everyone who follows the thread, and those who come later", async () => {
    const ann = await paused();
    let hasSeen = false;
    const connected = await ann.post("connect", { threadId: "t" }, "?follow=true");
    const follower = readEvents(connected, ({ data }) => {
      hasSeen ||= JSON.stringify(data).includes("Dear both");
      return hasSeen && data.type === "RUN_FINISHED";
    });
    await ann.edit({ text: "Dear both" });
    const late = await readEvents(await ann.post("connect", { threadId: "t" }));
    for (const seen of [await follower, late]) {
      expect(JSON.stringify(seen.filter(({ data }) => String(data.type).startsWith("STATE_")))).toContain(
        "Dear both",
      );
    }
    const { body } = await ann.ask("GET", "/agents/letter/threads/t/runs");
    expect(body.runs[0]).toMatchObject({
      work: "reconcile",
      status: "interrupted",
      startedBy: { kind: "client", id: "edit_state" },
    });
  });

  it("is not written anew where nothing would change", async () => {
    const ann = await paused();
    const { body: before } = await ann.ask("GET", STATE);
    expect((await ann.edit({ text: "Dear all" })).body.checkpointId).toBe(before.checkpointId);
    expect((await ann.ask("GET", "/agents/letter/threads/t/runs")).body.runs).toHaveLength(1);
  });

  it.each([
    ["no object", ["text"], "values"],
    ["nothing", {}, "values"],
    ["a channel that there is not", { text: "a", txt: "b" }, "values.txt"],
    ["a channel that people do not see", { secret: "a" }, "values.secret"],
    ["messages", { messages: [] }, "values.messages"],
    ["a value of another type", { to: ["bob", 3] }, "values.to.1"],
  ])("takes no edit of %s", async (_, values, field) => {
    const ann = await paused();
    const refused = await ann.edit(values);
    expect(refused).toMatchObject({ status: 400, body: { code: "invalid_input", details: { field } } });
    if (/txt|secret|messages/.test(field)) expect(refused.body.message).toContain("text, to");
    expect((await ann.ask("GET", "/agents/letter/threads/t/runs")).body.runs).toHaveLength(1);
  });

  it("P95: stays as it was, and waits as before, where the graph refuses the edit", async () => {
    const ann = await paused();
    const { body: before } = await ann.ask("GET", STATE);
    expect(await ann.edit({ text: "a" }, { asNode: "nowhere" })).toMatchObject({
      status: 400,
      body: { code: "invalid_input", message: expect.stringContaining('Node "nowhere" does not exist') },
    });
    expect((await ann.ask("GET", STATE)).body).toEqual(before);
    expect(await ann.idle()).toMatchObject({ status: "waiting" });
  });

  it("leaves a failed run to be tried again where an edit was refused", async () => {
    const ann = person();
    await ann.say("fail");
    await ann.idle();
    expect((await ann.edit({ text: "a" }, { asNode: "nowhere" })).status).toBe(400);
    expect(await ann.idle()).toMatchObject({ status: "error" });
    expect((await ann.ask("POST", "/agents/letter/threads/t/retry", {})).status).toBe(202);
    expect(await ann.idle()).toMatchObject({ status: "error" });
  });

  it("P95: is not edited at another checkpoint than the one that was seen", async () => {
    const ann = await paused();
    const { checkpointId } = (await ann.ask("GET", STATE)).body;
    const both = await Promise.all(["a", "b"].map((text) => ann.edit({ text }, { checkpointId })));
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(await ann.edit({ text: "c" }, { checkpointId })).toMatchObject({
      status: 409,
      body: { code: "conflict" },
    });
  });

  it("P95: is not edited while a run is active, or a question open", async () => {
    const bob = person();
    const running = bob.say("wait");
    await vi.waitFor(() => expect(letters.release).toBeDefined());
    expect(await bob.edit({ text: "a" })).toMatchObject({ status: 409, body: { code: "busy" } });
    letters.release?.();
    await running;
    const ann = person();
    await ann.say("ask");
    await ann.idle();
    expect(await ann.edit({ text: "a" })).toMatchObject({
      status: 409,
      body: { code: "interrupt_pending" },
    });
    expect((await ann.ask("GET", "/waiting")).body.questions).toMatchObject([{ kind: "question" }]);
  });

  it("is edited after a run that failed, and the graph goes on, but the run is not tried again", async () => {
    const ann = person();
    await ann.say("fail");
    expect(await ann.idle()).toMatchObject({ status: "error" });
    await ann.edit({ text: "By hand" }, { asNode: "write" });
    expect(await ann.idle()).toMatchObject({ status: "waiting" });
    const retried = await ann.ask("POST", "/agents/letter/threads/t/retry", {});
    expect(retried).toMatchObject({ status: 409, body: { code: "conflict" } });
    expect(retried.body.message).toContain("edited");
  });

  it("is its account's and its person's, and a matter of the role", async () => {
    const ann = await paused({ "x-throughline-subject": "ann" });
    const stranger = person();
    const bob = person(ann.account, { "x-throughline-subject": "bob" });
    for (const other of [stranger, bob]) {
      expect(await other.edit({ text: "a" })).toMatchObject({ status: 404, body: { code: "not_found" } });
    }
    for (const role of ["viewer", "approver"]) {
      const reader = person(ann.account, { "x-throughline-subject": "ann", "x-throughline-role": role });
      expect(await reader.edit({ text: "a" })).toMatchObject({
        status: 403,
        body: { code: "forbidden", message: expect.stringContaining("edit the state of threads") },
      });
    }
    await ann.edit({ text: "Mine" });
    await server.service.audit.flush();
    const admin = person(ann.account, { "x-throughline-role": "admin" });
    const { body: record } = await admin.ask("GET", "/audit?action=edit_state");
    expect(record.entries).toMatchObject([
      { outcome: "done", subject: "ann", target: { threadName: "t", channels: ["text"] } },
      { outcome: "refused", role: "approver" },
      { outcome: "refused", role: "viewer" },
      { outcome: "failed", code: "not_found", subject: "bob" },
    ]);
    const { body: runs } = await ann.ask("GET", "/agents/letter/threads/t/runs");
    expect(runs.runs[0].startedBy).toEqual({ kind: "client", id: "edit_state", person: "ann" });
  });
});
