import { MemorySaver } from "@langchain/langgraph";
import { createModel } from "@throughline/langgraph-models";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { messageSchema, type RunnableGraph } from "../shared.js";

import { researcherDefinition } from "./graph.js";

vi.mock("@throughline/langgraph-models", { spy: true });

const QUESTION = "How do cursors and leases keep quantum logs in order?";
const config = { configurable: { thread_id: "desk", virtualKeyId: "key-7", offline: { paceMs: 0 } } };
const fileSchema = z.object({ content: z.string() });
const stateSchema = z.object({
  messages: z.array(messageSchema),
  todos: z.array(z.object({ content: z.string(), status: z.string() })),
  files: z.record(z.string(), fileSchema),
});
const chunkSchema = z.tuple([
  z.object({ type: z.string(), content: z.string(), usage_metadata: z.unknown().optional() }),
  z.object({ langgraph_checkpoint_ns: z.string() }),
]);

let graph: RunnableGraph;

beforeEach(() => {
  vi.mocked(createModel).mockClear();
  const keys = { resolveKey: () => Promise.reject(new Error("The offline model needs no key.")) };
  graph = researcherDefinition.create({ keys, checkpointer: new MemorySaver() });
});

const input = (content: string) => ({ messages: [{ role: "user", content }] });
const ask = async (content: string) => stateSchema.parse(await graph.invoke(input(content), config));

/** "tools:<task>|evidence:<task>" → "tools/evidence" */
const placeOf = (namespace: string) => namespace.replace(/:[^|]*/g, "").replaceAll("|", "/");

describe("the researcher", () => {
  it("plans, sends out both subagents, files their work and a report, and cites the files", async () => {
    const result: unknown = await graph.invoke(input(QUESTION), config);
    expect(researcherDefinition.outputSchema.safeParse(result)).toMatchObject({ success: true });
    const final = stateSchema.parse(result);
    expect(final.todos.map((todo) => todo.status)).toEqual(["completed", "completed"]);
    expect(Object.keys(final.files).sort()).toEqual([
      "/research/1/critic.md",
      "/research/1/report.md",
      "/research/1/scout.md",
    ]);
    const answer = String(final.messages.at(-1)?.content);
    for (const path of Object.keys(final.files)) expect(answer).toContain(path);
  });

  it("reports what the notes say and what they leave open", async () => {
    const { files } = await ask(QUESTION);
    expect(files["/research/1/scout.md"]?.content).toContain("[n3] Leases and fencing");
    expect(files["/research/1/critic.md"]?.content).toContain('"quantum": treat that part as unanswered');
    expect(files["/research/1/report.md"]?.content).toContain(
      "A lease says who may write, and for how long. [n3]",
    );
  });

  it("says that the notes hold nothing when they hold nothing", async () => {
    const { messages } = await ask("Zebra xylophone?");
    expect(messages.at(-1)?.content).toContain("The notes hold nothing on this question.");
  });

  it("hands both tasks out in one message and answers every tool call", async () => {
    const { messages } = await ask(QUESTION);
    const calls = messages.flatMap((message) => message.tool_calls ?? []);
    expect(calls.map((call) => call.name)).toEqual([
      "write_todos",
      "task",
      "task",
      "write_todos",
      "write_file",
    ]);
    expect(new Set(messages.flatMap((message) => message.tool_call_id ?? []))).toEqual(
      new Set(calls.map((call) => call.id)),
    );
  });

  it("keeps the files of an earlier question when it is asked another", async () => {
    await ask(QUESTION);
    const { files } = await ask("What is backpressure?");
    expect(Object.keys(files)).toHaveLength(6);
    expect(files["/research/2/report.md"]?.content).toContain("A slow reader must not slow the others. [n5]");
  });

  it("says the same again when it is asked the same on another thread", async () => {
    const other = { configurable: { ...config.configurable, thread_id: "other" } };
    const contents = (state: z.infer<typeof stateSchema>) => state.messages.map((message) => message.content);
    const again = stateSchema.parse(await graph.invoke(input(QUESTION), other));
    expect(contents(again)).toEqual(contents(await ask(QUESTION)));
  });

  it("publishes keys that every subagent's final state has", async () => {
    const finals = new Map<string, unknown>();
    const options = { ...config, streamMode: "values" as const, subgraphs: true };
    for await (const [namespace, values] of await graph.stream(input(QUESTION), options)) {
      finals.set(namespace.join("|"), values);
    }
    const { scout, critic, evidence } = researcherDefinition.subgraphs ?? {};
    const withFiles = { messages: "messages", files: "files" };
    expect([scout, critic]).toEqual([withFiles, withFiles]);
    const subagents = [...finals].filter(([namespace]) => /^tools:[^|]+$/.test(namespace));
    expect(subagents).toHaveLength(2);
    for (const [, values] of subagents) {
      expect(values).toMatchObject({ messages: expect.any(Array), files: expect.any(Object) });
    }
    const nested = [...finals].find(([namespace]) => namespace.includes("|evidence:"));
    expect(evidence).toEqual({ messages: "messages" });
    expect(nested?.[1]).toMatchObject({ messages: expect.any(Array) });
  });
});

describe("the researcher's models", () => {
  it("are each made from the run's own config, in the root, in subagents and in the graph inside one", async () => {
    await ask(QUESTION);
    const calls = vi.mocked(createModel).mock.calls.map(([given]) => given);
    expect(calls.length).toBeGreaterThan(6);
    for (const given of calls) expect(given?.configurable).toMatchObject({ virtualKeyId: "key-7" });
    const places = calls.map((given) => placeOf(String(given?.metadata?.langgraph_checkpoint_ns)));
    expect(new Set(places)).toEqual(
      new Set(["model_request", "tools/model_request", "tools/evidence/weigh"]),
    );
  });

  it("stream their tokens where they run, and report the usage of each call once", async () => {
    const textOf = new Map<string, string>();
    let usages = 0;
    const options = { ...config, streamMode: "messages" as const, subgraphs: true };
    for await (const [, chunk] of await graph.stream(input(QUESTION), options)) {
      const [message, { langgraph_checkpoint_ns: namespace }] = chunkSchema.parse(chunk);
      if (message.type !== "ai") continue;
      const place = placeOf(namespace);
      textOf.set(place, `${textOf.get(place) ?? ""}${message.content}`);
      if (message.usage_metadata !== undefined) usages += 1;
    }
    expect(textOf.get("model_request")).toContain("The report is in /research/1/report.md");
    expect(textOf.get("tools/model_request")).toContain("[n3]");
    expect(textOf.get("tools/evidence/weigh")).toContain("treat that part as unanswered");
    expect(usages).toBe(vi.mocked(createModel).mock.calls.length);
  });
});
