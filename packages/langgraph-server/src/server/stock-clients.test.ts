import { randomUUID } from "node:crypto";
import { HttpAgent as HttpAgent00 } from "@ag-ui/client";
import { HttpAgent as HttpAgent10 } from "@ag-ui/client-1";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { createScriptedProvider, type ScriptedProvider } from "../testing/scripted-provider.js";
import { startTestServer, type TestServer } from "../testing/test-server.js";

interface Seen {
  readonly types: string[];
  readonly errors: { readonly code: unknown; readonly metadata: unknown }[];
  readonly customs: { readonly name: unknown; readonly value: unknown }[];
  readonly finished: unknown[];
}

interface Client {
  readonly messages: readonly { readonly role: string; readonly content?: unknown; readonly id: string }[];
  readonly state: unknown;
  say(text: string): void;
  /** Runs as a stock client does; what came in by type. */
  run(parameters?: { runId?: string; forwardedProps?: unknown; resume?: unknown }): Promise<Seen>;
  abort(): void;
}

/** One stock `HttpAgent`, nothing overridden: what it takes, any client of its line takes. */
function client(line: "0.0" | "1.0", url: string, threadId: string): Client {
  const agent = line === "0.0" ? new HttpAgent00({ url, threadId }) : new HttpAgent10({ url, threadId });
  return {
    get messages() {
      return agent.messages;
    },
    get state() {
      return agent.state;
    },
    say(text) {
      agent.addMessage({ id: randomUUID(), role: "user", content: text });
    },
    abort: () => agent.abortRun(),
    async run(parameters = {}) {
      const seen: Seen = { types: [], errors: [], customs: [], finished: [] };
      await agent.runAgent(
        parameters as never,
        {
          onEvent({ event }: { event: Record<string, unknown> }) {
            seen.types.push(String(event.type));
            if (event.type === "RUN_ERROR") seen.errors.push({ code: event.code, metadata: event.metadata });
            if (event.type === "CUSTOM") seen.customs.push({ name: event.name, value: event.value });
            if (event.type === "RUN_FINISHED") seen.finished.push(event.outcome);
          },
        } as never,
      );
      return seen;
    },
  };
}

let six: TestServer;
let scripted: TestServer;
let provider: ScriptedProvider;
beforeAll(async () => {
  provider = createScriptedProvider();
  [six, scripted] = await Promise.all([startTestServer(), startTestServer({ graphs: provider })]);
});
afterEach(() => vi.restoreAllMocks());
afterAll(() => Promise.all([six.close(), scripted.close()]));

describe.each(["0.0", "1.0"] as const)("a stock HttpAgent of line %s", (line) => {
  const name = (what: string) => `${what}-${line}`;

  it("runs an agent, and a second client that connects holds the same conversation", async () => {
    const first = client(line, six.route("poet", "run"), name("poem"));
    first.say("a line about rivers");
    const seen = await first.run();
    expect(seen.errors).toEqual([]);
    expect(seen.types.at(0)).toBe("RUN_STARTED");
    expect(seen.types.at(-1)).toBe("RUN_FINISHED");
    expect(first.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);

    const second = client(line, six.route("poet", "connect"), name("poem"));
    const connected = await second.run();
    expect(connected.types).toEqual(["RUN_STARTED", "STATE_SNAPSHOT", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]);
    expect(second.messages.map(({ id, content }) => [id, content])).toEqual(
      first.messages.map(({ id, content }) => [id, content]),
    );
  });

  it("goes on in the same thread without telling the graph what it knows", async () => {
    const agent = client(line, six.route("chat", "run"), name("turns"));
    agent.say("hello");
    await agent.run();
    agent.say("and again");
    const seen = await agent.run();
    expect(seen.errors).toEqual([]);
    expect(agent.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
  });

  it("connects to a run in progress and sees the rest of it", async () => {
    const starter = client(line, scripted.route("scripted", "run"), name("live"));
    starter.say("go");
    const running = starter.run();
    const run = await provider.nextRun();
    run.say("Hel");
    const watcher = client(line, scripted.route("scripted", "connect"), name("live"));
    const watching = watcher.run();
    run.say("lo");
    run.end();
    await Promise.all([running, watching]);
    expect(watcher.messages.map(({ content }) => content)).toEqual(["go", "Hello"]);
    expect(starter.messages.map(({ content }) => content)).toEqual(["go", "Hello"]);
  });

  it("is told that a thread is busy, with the run and a time to come back", async () => {
    const first = client(line, scripted.route("scripted", "run"), name("busy"));
    first.say("go");
    const running = first.run();
    const run = await provider.nextRun();
    const second = client(line, scripted.route("scripted", "run"), name("busy"));
    second.say("me too");
    const refused = await second.run();
    expect(refused.types).toEqual(["RUN_STARTED", "RUN_ERROR"]);
    expect(refused.errors).toMatchObject([
      { code: "busy", metadata: { throughline: { details: { runId: run.request.runId } } } },
    ]);
    run.end();
    await running;
  });

  it("stops a run by the id it gave it, and sees it end", async () => {
    const agent = client(line, scripted.route("scripted", "run"), name("stop"));
    agent.say("go");
    const runId = name("my-run");
    const running = agent.run({ runId });
    const run = await provider.nextRun();
    run.say("Hel");
    const answer = await scripted.post(`/api/copilotkit/agent/scripted/stop/${name("stop")}`, { runId });
    expect(await answer.json()).toMatchObject({ stopped: true, outcome: "stopping" });
    const seen = await running;
    expect(seen.types.at(-1)).toBe("RUN_FINISHED");
    expect(seen.errors).toEqual([]);
  });

  it("answers interrupts until the journey is booked", async () => {
    const agent = client(line, six.route("travel", "run"), name("trip"));
    agent.say("plan a trip from Amsterdam to San Francisco");
    const flights = await agent.run();
    expect(flights.errors).toEqual([]);
    const answered = await answer(agent, line, flights, 0);
    expect(answered.errors).toEqual([]);
    const done = await answer(agent, line, answered, 2);
    expect(done.errors).toEqual([]);
    expect(done.types.at(-1)).toBe("RUN_FINISHED");
    expect(agent.state).toMatchObject({
      itinerary: { flight: { airline: "KLM" }, hotel: { name: "Hotel Zoe" } },
    });
  });

  it("is told of a changed message as a failed run", async () => {
    const path = "/api/copilotkit/agent/poet/run";
    const message = { id: "m1", role: "user", content: "hello" };
    const threadId = name("changed");
    await (await six.post(path, { threadId, messages: [message] })).text();
    const changed = { threadId, messages: [{ ...message, content: "goodbye" }] };
    const answer = await six.post(path, changed);
    expect(answer.status).toBe(200);
    expect(await answer.text()).toMatch(/RUN_STARTED[\s\S]*"code":"invalid_input"/);
  });

  it("reads a refusal of its input as an error with a status and a code", async () => {
    // Both lines say on the console what they throw.
    vi.spyOn(console, "error").mockImplementation(() => {});
    const agent = client(line, six.route("chat", "run"), name("bad"));
    agent.say("hello");
    const refused = agent.run({ forwardedProps: { throughline: { strategy: "shove" } } });
    await expect(refused).rejects.toMatchObject({ status: 400 });
    await expect(client(line, six.route("nobody", "run"), "t").run()).rejects.toMatchObject({ status: 404 });
  });
});

it("tells of a missing thread id as a failed run, because a stock client would see nothing else", async () => {
  for (const action of ["run", "connect"]) {
    const answer = await six.post(`/api/copilotkit/agent/chat/${action}`, { messages: [] });
    expect(answer.status).toBe(200);
    expect(await answer.text()).toMatch(/RUN_STARTED[\s\S]*"code":"invalid_input"/);
  }
});

/** Takes the option with this index, in the form the question came in. */
function answer(agent: Client, line: "0.0" | "1.0", asked: Seen, index: number): Promise<Seen> {
  if (line === "0.0") {
    const question = asked.customs.find(({ name }) => name === "on_interrupt");
    const { options } = JSON.parse(String(question?.value));
    return agent.run({ forwardedProps: { command: { resume: JSON.stringify(options[index]) } } });
  }
  const [outcome] = asked.finished as {
    interrupts?: { id: string; metadata: { langgraph: { raw: { options: unknown[] } } } }[];
  }[];
  const [interrupt] = outcome?.interrupts ?? [];
  const payload = interrupt?.metadata.langgraph.raw.options[index];
  return agent.run({ resume: [{ interruptId: interrupt?.id, status: "resolved", payload }] });
}
