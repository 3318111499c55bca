import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeEachStore } from "../../testing/describe-each-store.js";
import { readEvents } from "../../testing/sse-events.js";
import { testPerson } from "../../testing/test-person.js";
import { startTestServer, type TestServer } from "../../testing/test-server.js";

describeEachStore("Threads over HTTP, kept in %s,", (storeOf) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ store: storeOf() });
  });
  afterAll(() => server.close());

  /** A caller with an account of their own. */
  function person(headers: Record<string, string> = { "x-throughline-account": `a-${randomUUID()}` }) {
    const { ask } = testPerson(() => server, headers);
    return {
      headers,
      ask,
      async say(threadId: string, content: string, agent = "chat", more: object = {}) {
        const response = await fetch(server.route(agent, "run"), {
          method: "POST",
          headers: { ...headers, "content-type": "application/json" },
          body: JSON.stringify({
            threadId,
            messages: [{ id: randomUUID(), role: "user", content }],
            ...more,
          }),
        });
        return readEvents(response);
      },
      /** As a person sees it once its last run is over everywhere. */
      async settled(path: string) {
        for (;;) {
          const read = await ask("GET", path);
          if (read.body?.status !== "running") return read;
        }
      },
    };
  }

  it("are listed with what was first said in them, whoever started them last first", async () => {
    const ann = person();
    await ann.say("first", "Tell me about tides");
    await ann.say("second", "What is 2 + 2?");
    await ann.settled("/agents/chat/threads/second");
    const { body } = await ann.ask("GET", "/agents/chat/threads");
    expect(body).toMatchObject({
      threads: [
        { threadName: "second", title: "What is 2 + 2?", agentId: "langgraph:chat", status: "idle" },
        { threadName: "first", title: "Tell me about tides", titledByPerson: false, archived: false },
      ],
      next: null,
    });
    const page = await ann.ask("GET", "/agents/chat/threads?limit=1");
    const rest = await ann.ask("GET", `/agents/chat/threads?limit=1&after=${page.body.next}`);
    expect([page, rest].flatMap(({ body: { threads } }) => threads)).toEqual(body.threads);
    expect((await ann.ask("GET", "/agents/chat/threads?search=TIDES")).body.threads).toMatchObject([
      { threadName: "first" },
    ]);
    expect((await ann.ask("GET", "/agents/poet/threads")).body.threads).toEqual([]);
  });

  it("say that they wait for an answer", async () => {
    const ann = person();
    await ann.say("trip", "Plan a trip to San Francisco", "travel");
    await ann.settled("/agents/travel/threads/trip");
    expect((await ann.ask("GET", "/agents/travel/threads?status=waiting")).body.threads).toMatchObject([
      { threadName: "trip" },
    ]);
    const state = await ann.ask("GET", "/agents/travel/threads/trip/state");
    expect(state.body.interrupts).toHaveLength(1);
    expect(state.body.next).toHaveLength(1);
  });

  it("are renamed, archived and taken back", async () => {
    const ann = person();
    await ann.say("t", "Hello");
    const path = "/agents/chat/threads/t";
    expect((await ann.ask("PATCH", path, { title: "  Greetings " })).body).toMatchObject({
      title: "Greetings",
      titledByPerson: true,
    });
    expect((await ann.ask("PATCH", path, { archived: true })).body).toMatchObject({ archived: true });
    expect((await ann.ask("GET", "/agents/chat/threads")).body.threads).toEqual([]);
    expect((await ann.ask("GET", "/agents/chat/threads?archived=true")).body.threads).toHaveLength(1);
    expect((await ann.ask("PATCH", path, { archived: false, title: null })).body).toMatchObject({
      archived: false,
      title: "Hello",
    });
    for (const wrong of [{}, { title: "" }, { title: "a\u0007b" }, { titel: "x" }]) {
      expect(await ann.ask("PATCH", path, wrong)).toMatchObject({
        status: 400,
        body: { code: "invalid_input" },
      });
    }
  });

  it("tell their state, their checkpoints and who started their runs", async () => {
    const ann = person();
    await ann.say("t", "What is 2 + 2?", "chat", { runId: "mine" });
    await ann.settled("/agents/chat/threads/t");
    const state = await ann.ask("GET", "/agents/chat/threads/t/state");
    expect(state.body).toMatchObject({ next: [], interrupts: [], values: {} });
    expect(state.body.messages.at(-1)).toMatchObject({
      role: "assistant",
      content: "The calculator says: 2 + 2 = 4",
    });
    const history = await ann.ask("GET", "/agents/chat/threads/t/history?limit=2");
    const older = await ann.ask(
      "GET",
      `/agents/chat/threads/t/history?limit=100&before=${history.body.next}`,
    );
    const all = [...history.body.checkpoints, ...older.body.checkpoints];
    expect(all[0]).toMatchObject({ checkpointId: state.body.checkpointId, messageIds: { length: 4 } });
    expect(all.map(({ step }: { step: number }) => step)).toEqual([3, 2, 1, 0, -1]);
    const past = await ann.ask("GET", `/agents/chat/threads/t/state?checkpointId=${all[3].checkpointId}`);
    expect(past.body.messages).toHaveLength(1);
    expect((await ann.ask("GET", "/agents/chat/threads/t/runs")).body.runs).toMatchObject([
      { clientRunId: "mine", status: "success", startedBy: { kind: "client" }, work: "graph", attempt: 0 },
    ]);
  });

  it("begin where another stood, are shown at once, and go their own way", async () => {
    const ann = person();
    await ann.say("t", "My name is Ada.");
    const { body: then } = await ann.ask("GET", "/agents/chat/threads/t/state");
    await ann.say("t", "What is 2 + 2?");
    const { checkpointId } = then;
    const forked = await ann.ask("POST", "/agents/chat/threads/t/fork", {
      threadName: "other",
      checkpointId,
    });
    expect(forked).toMatchObject({
      status: 201,
      body: {
        threadName: "other",
        title: "My name is Ada.",
        status: "idle",
        forkedFrom: {
          threadName: "t",
          visibility: "account",
          checkpointId,
          messageId: then.messages.at(-1).id,
        },
      },
    });
    expect((await ann.ask("GET", "/agents/chat/threads/t")).body).toMatchObject({ forkedFrom: null });
    const { body: state } = await ann.ask("GET", "/agents/chat/threads/other/state");
    expect(state.messages).toEqual(then.messages);
    const shown = await readEvents(
      await server.post("/api/copilotkit/agent/chat/connect", { threadId: "other" }, ann.headers),
    );
    const snapshot = shown.find(({ data }) => data.type === "MESSAGES_SNAPSHOT");
    expect(snapshot?.data.messages).toHaveLength(2);
    const events = await ann.say("other", "Who am I?");
    expect(events.map(({ data }) => data.delta ?? "").join("")).toContain("My name is Ada.");
    expect((await ann.ask("GET", "/agents/chat/threads/t/state")).body.messages).toHaveLength(6);
    expect(await ann.ask("POST", "/agents/chat/threads/t/fork", { threadName: "other" })).toMatchObject({
      status: 409,
      body: { code: "conflict", details: { field: "threadName" } },
    });
    const missing = { threadName: "new", checkpointId: "1f0c0000-0000-6000-8000-000000000000" };
    expect(await ann.ask("POST", "/agents/chat/threads/t/fork", missing)).toMatchObject({ status: 404 });
    expect(await ann.ask("GET", "/agents/chat/threads/new")).toMatchObject({ status: 404 });
  });

  it("name the thread they began in to those who may see it, and to no others", async () => {
    const account = `a-${randomUUID()}`;
    const ann = person({ "x-throughline-account": account, "x-throughline-subject": "ann" });
    await ann.say("diary", "Hello");
    const fork = (more: object) => ann.ask("POST", "/agents/chat/threads/diary/fork", more);
    expect((await fork({ threadName: "own" })).body.forkedFrom).toMatchObject({
      threadName: "diary",
      visibility: "private",
    });
    expect((await fork({ threadName: "for all", visibility: "account" })).body.forkedFrom).toBeNull();
  });

  it("remember the model that was chosen in them, until another is or it is taken back", async () => {
    const ann = person({ "x-throughline-account": `a-${randomUUID()}`, "x-throughline-subject": "ann" });
    const choose = (model: string) => ({ forwardedProps: { throughline: { model } } });
    const models = async () =>
      (await ann.ask("GET", "/agents/chat/threads/t/runs")).body.runs.map(
        ({ model }: { model: string }) => model,
      );
    await ann.say("t", "one");
    const [usual] = await models();
    await ann.say("t", "two", "chat", choose("large"));
    await ann.say("t", "three");
    expect(await models()).toEqual(["large", "large", usual]);
    expect((await ann.ask("GET", "/agents/chat/threads/t")).body).toMatchObject({ model: "large" });
    expect((await ann.ask("POST", "/agents/chat/threads/t/fork", { threadName: "f" })).body.model).toBe(
      "large",
    );
    expect((await ann.ask("PATCH", "/agents/chat/threads/t", { model: null })).body).toMatchObject({
      model: null,
    });
    await ann.say("t", "four");
    expect((await models())[0]).toBe(usual);
    expect(await ann.ask("PATCH", "/agents/chat/threads/t", { model: "none such" })).toMatchObject({
      status: 400,
      body: { code: "model_not_allowed" },
    });
    expect((await ann.ask("PATCH", "/agents/chat/threads/t", { model: usual })).body).toMatchObject({
      model: usual,
    });
  });

  it("say which command a run is of, and who asked for it", async () => {
    const ann = person({ "x-throughline-account": `a-${randomUUID()}`, "x-throughline-subject": "ann" });
    const command = { forwardedProps: { throughline: { command: { name: "hire" }, visibility: "account" } } };
    await ann.say("s", "", "sentinel", { ...command, messages: [] });
    const { body } = await ann.ask("GET", "/agents/sentinel/threads/s/runs?visibility=account");
    expect(body.runs).toMatchObject([
      { startedBy: { kind: "client", command: "hire", person: "ann" }, cost: null },
    ]);
    const cycle = { forwardedProps: { throughline: { command: { name: "cycle" } } }, messages: [] };
    await ann.say("idle", "", "sentinel", cycle);
    const { body: state } = await ann.ask("GET", "/agents/sentinel/threads/idle/state");
    expect(state.values.log).toMatchObject([{ command: "cycle", outcome: "refused", code: "not_hired" }]);
  });

  it("begin with another's open question, which each answers for itself", async () => {
    const ann = person();
    await ann.say("trip", "Plan a trip to San Francisco", "travel");
    await ann.settled("/agents/travel/threads/trip");
    const fork = await ann.ask("POST", "/agents/travel/threads/trip/fork", { threadName: "again" });
    expect(fork.body).toMatchObject({ status: "waiting" });
    const { body: asked } = await ann.ask("GET", "/agents/travel/threads/again/state");
    expect(asked.interrupts).toHaveLength(1);
    const [{ interrupt_id: interruptId, value }] = asked.interrupts;
    const options: unknown = value.options;
    const payload = Array.isArray(options) ? (options[0]?.id ?? options[0]) : "ok";
    const answer = { resume: [{ interruptId, status: "resolved", payload }], messages: [] };
    await readEvents(
      await server.post("/api/copilotkit/agent/travel/run", { threadId: "again", ...answer }, ann.headers),
    );
    await ann.settled("/agents/travel/threads/again");
    const { body: after } = await ann.ask("GET", "/agents/travel/threads/again/state");
    expect(after.interrupts.map((open: { interrupt_id: string }) => open.interrupt_id)).not.toContain(
      interruptId,
    );
    const { body: first } = await ann.ask("GET", "/agents/travel/threads/trip/state");
    expect(first.interrupts).toMatchObject([{ interrupt_id: interruptId }]);
  });

  it("are nobody else's, whatever is known of them", async () => {
    const ann = person({ "x-throughline-account": "acme", "x-throughline-subject": "ann" });
    const others = [
      { "x-throughline-account": "acme" },
      { "x-throughline-account": "acme", "x-throughline-subject": "bob" },
      { "x-throughline-account": "acme2", "x-throughline-subject": "ann" },
    ].map(person);
    await ann.say("secret", "The code is 1234");
    const { body: own } = await ann.ask("GET", "/agents/chat/threads/secret/state");
    for (const other of others) {
      expect((await other.ask("GET", "/agents/chat/threads?archived=all")).body.threads).toEqual([]);
      for (const [method, path, body] of [
        ["GET", "", undefined],
        ["PATCH", "", { title: "mine" }],
        ["GET", "/state", undefined],
        ["GET", `/state?checkpointId=${own.checkpointId}`, undefined],
        ["GET", "/history", undefined],
        ["GET", "/runs", undefined],
        ["POST", "/fork", { threadName: "stolen", checkpointId: own.checkpointId }],
      ] as const) {
        const { status, body: told } = await other.ask(method, `/agents/chat/threads/secret${path}`, body);
        expect({ path, status }).toEqual({ path, status: 404 });
        expect(JSON.stringify(told)).not.toContain("1234");
      }
    }
    expect((await ann.ask("GET", "/agents/chat/threads/secret")).body).toMatchObject({
      title: "The code is 1234",
    });
  });

  it("are refused by name where the request makes no sense", async () => {
    const ann = person();
    for (const query of ["limit=0", "limit=x", "status=asleep", "archived=maybe", "after=x"]) {
      expect(await ann.ask("GET", `/agents/chat/threads?${query}`)).toMatchObject({
        status: 400,
        body: { code: "invalid_input", details: { field: query.split("=")[0] } },
      });
    }
    expect(await ann.ask("GET", "/agents/nobody/threads")).toMatchObject({ status: 404 });
    expect(await ann.ask("GET", "/agents/chat/threads/never")).toMatchObject({ status: 404 });
    expect(await ann.ask("POST", "/agents/chat/threads", {})).toMatchObject({ status: 405 });
  });

  it("stand beside what agents there are and what graphs remember", async () => {
    const ann = person({ "x-throughline-account": "acme", "x-throughline-subject": "ann" });
    const { body } = await ann.ask("GET", "/agents");
    expect(body.agents.map(({ graphId }: { graphId: string }) => graphId)).toContain("langgraph:sentinel");
    expect(body.agents[0]).toMatchObject({ inputSchema: { type: "object" }, commands: [] });
    expect((await ann.ask("GET", "/store/items?prefix=memories.food")).body).toEqual({ items: [] });
    expect(await ann.ask("DELETE", "/store/items?namespace=memories&key=tea")).toMatchObject({ status: 404 });
  });
});
