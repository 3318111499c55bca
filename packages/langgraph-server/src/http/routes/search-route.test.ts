import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { describeEachStore } from "../../testing/describe-each-store.js";
import { readEvents } from "../../testing/sse-events.js";
import { testPerson } from "../../testing/test-person.js";
import { startTestServer, type TestServer } from "../../testing/test-server.js";
import { searchWords, snippetOf } from "../../threads/message-index.js";
import { toMarkdown } from "./thread-search.js";

/** What a run leaves is seen a moment after its stream has ended. */
const PATIENT = { timeout: 10_000 };

describeEachStore("A search for words, kept in %s,", (storeOf) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ store: storeOf() });
  });
  afterAll(() => server.close());

  function person(account: string, subject: string) {
    const headers = { "x-throughline-account": account, "x-throughline-subject": subject };
    const { ask } = testPerson(() => server, headers);
    return {
      ask,
      async say(agent: string, threadId: string, content: string, visibility = "private") {
        const body = {
          threadId,
          messages: [{ id: randomUUID(), role: "user", content }],
          forwardedProps: { throughline: { visibility } },
        };
        return readEvents(await server.post(`/api/copilotkit/agent/${agent}/run`, body, headers));
      },
      async find(words: string, query = "") {
        const { body } = await ask("GET", `/threads/search?search=${encodeURIComponent(words)}${query}`);
        return body.threads.map(({ threadName }: { threadName: string }) => threadName);
      },
    };
  }

  it("finds what people and agents said, in threads of all agents, with the words around it", async () => {
    const ann = person(`a-${randomUUID()}`, "ann");
    await ann.say("chat", "tides", "Hello");
    await ann.say("chat", "tides", "Is the Ärmelkanal\ndeep?");
    await ann.say("poet", "sea", "A poem about zebras");
    await vi.waitFor(async () => expect(await ann.find("ärmelk")).toEqual(["tides"]), PATIENT);
    const { body } = await ann.ask("GET", "/threads/search?search=ärmelkanal%20DEEP");
    expect(body.threads).toMatchObject([
      {
        threadName: "tides",
        title: "Hello",
        match: { role: expect.any(String), snippet: expect.stringContaining("Ärmelkanal deep") },
      },
    ]);
    await vi.waitFor(async () => expect(await ann.find("umbrella OR kettle OR river")).toEqual([]), PATIENT);
    expect(await ann.find("zebras")).toEqual(["sea"]);
    expect(await ann.find("zebras", "&agentId=chat")).toEqual([]);
    expect(await ann.find("zebras ärmelkanal")).toEqual([]);
    expect(await ann.find("'quoted' & ! | :*")).toEqual([]);
    const titled = await ann.ask("GET", "/threads/search?search=hello");
    expect(titled.body.threads.map(({ threadName }: { threadName: string }) => threadName)).toContain(
      "tides",
    );
  });

  it("keeps people and accounts apart, and forgets what was deleted", async () => {
    const account = `a-${randomUUID()}`;
    const [ann, bob] = [person(account, "ann"), person(account, "bob")];
    await ann.say("chat", "own", "quokka in private");
    await ann.say("chat", "shared", "quokka for all", "account");
    await vi.waitFor(
      async () => expect((await ann.find("quokka")).sort()).toEqual(["own", "shared"]),
      PATIENT,
    );
    expect(await bob.find("quokka")).toEqual(["shared"]);
    expect(await person(`a-${randomUUID()}`, "ann").find("quokka")).toEqual([]);
    await ann.ask("PATCH", "/agents/chat/threads/own", { archived: true });
    expect(await ann.find("quokka")).toEqual(["shared"]);
    await ann.ask("PATCH", "/agents/chat/threads/own", { archived: false });
    await ann.ask("DELETE", "/agents/chat/threads/own");
    expect(await ann.find("quokka")).toEqual(["shared"]);
  });

  it("finds what was said in a fork, and in a thread that was shared after it", async () => {
    const ann = person(`a-${randomUUID()}`, "ann");
    await ann.say("chat", "t", "numbat");
    const { body } = await ann.ask("GET", "/agents/chat/threads/t/state");
    const { checkpointId } = body;
    await ann.ask("POST", "/agents/chat/threads/t/fork", { checkpointId, threadName: "fork" });
    await ann.ask("PUT", "/agents/chat/threads/t/visibility", { visibility: "account" });
    await vi.waitFor(async () => expect((await ann.find("numbat")).sort()).toEqual(["fork", "t"]), PATIENT);
  });

  it("does not find what was taken back by another answer", async () => {
    const ann = person(`a-${randomUUID()}`, "ann");
    await ann.say("chat", "t", "one");
    await ann.say("chat", "t", "wombat");
    await vi.waitFor(async () => expect(await ann.find("wombat")).toEqual(["t"]), PATIENT);
    const { body } = await ann.ask("GET", "/agents/chat/threads/t/state");
    await ann.ask("POST", "/agents/chat/threads/t/regenerate", { messageId: body.messages[1].id });
    await vi.waitFor(async () => expect(await ann.find("wombat")).toEqual([]), PATIENT);
  });

  it("is beside the conversation as a file, as Markdown and as JSON", async () => {
    const ann = person(`a-${randomUUID()}`, "ann");
    await ann.say("chat", "t", "What is 2 + 2?");
    const path = "/agents/chat/threads/t/export";
    const markdown = await fetch(`${server.url}${path}`, {
      headers: { "x-throughline-account": "none-of-it", "x-throughline-subject": "ann" },
    });
    expect(markdown.status).toBe(404);
    expect(await markdown.json()).toMatchObject({ message: "There is no such thread." });
    const json = await ann.ask("GET", `${path}?format=json`);
    expect(json.body).toMatchObject({
      thread: { threadName: "t" },
      messages: [{ role: "user" }, {}, {}, {}],
    });
  });
});

describe("Words", () => {
  it("are lower case, each once, and single characters where a script has no spaces", () => {
    expect(searchWords("The SEA, the sea: ｆｕｌｌ 日本")).toEqual(["the", "sea", "full", "日", "本"]);
    expect(searchWords("& | ! :*")).toEqual([]);
  });

  it("stand in a snippet with what is around them", () => {
    const text = `${"before ".repeat(30)}needle${" after".repeat(60)}`;
    expect(snippetOf(text, ["needle"])).toMatch(/^….*before needle after.*…$/);
    expect(snippetOf("short needle", ["needle"])).toBe("short needle");
  });
});

it("A conversation as Markdown says who said what, and fences what tools were given and gave", () => {
  const text = toMarkdown({
    title: "A\ntitle",
    agent: "langgraph:chat",
    exportedAt: "2026-11-17T15:00:00.000Z",
    messages: [
      { id: "1", role: "user", content: "Sum?" },
      {
        id: "2",
        role: "assistant",
        content: "",
        tool_calls: [{ id: "c", name: "calculator", args: '{"x":1}' }],
      },
      { id: "3", role: "tool", tool_call_id: "c", content: "a ``` fence" },
      { id: "4", role: "assistant", content: [{ type: "text", text: "Two." }, { type: "image" }] },
    ],
  });
  expect(text).toBe(`# A title

langgraph:chat, 2026-11-17T15:00:00.000Z

## You

Sum?

## Agent

Called \`calculator\`:

\`\`\`json
{"x":1}
\`\`\`

## Tool

\`\`\`\`
a \`\`\` fence
\`\`\`\`

## Agent

Two.

_(image)_
`);
});
