import type { UpstreamChunk } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { drive } from "../testing/drive.js";
import { createSubgraphStates } from "./subgraph-result.js";

const words = (id: string, content: string) => ({ type: "ai", id, content, tool_calls: [] });
const person = (id: string) => ({ type: "human", id, content: "Go on" });
const none: ReadonlySet<string> = new Set();
const lengthOf = (value: unknown) => JSON.stringify(value).length;

describe("A subgraph's input and result", () => {
  const states = createSubgraphStates(undefined);

  it("stay within 4,000 characters of JSON, whatever the state weighs", () => {
    const state = {
      files: { "/report.md": { content: "x".repeat(1_000_000) }, '/"odd".md': { content: "y" } },
      messages: Array.from({ length: 2_000 }, (_, n) => words(`m${n}`, `"${"\n".repeat(500)}"`)),
    };
    expect(String(states.input("node", state))).toHaveLength(4_001);
    const result = states.result("node", state, none);
    expect(lengthOf(result)).toBeLessThan(4_200);
    expect(result).toMatchObject({ files: ["/report.md", '/"odd".md'], omitted: { messages: 1_997 } });
  });

  it("stay within it where one message or one file's name is longer", () => {
    const files = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`/${n}/${"p".repeat(90)}`, {}]));
    const result = states.result("node", { messages: [words("m", "é\u0001".repeat(500_000))], files }, none);
    expect(lengthOf(result)).toBeLessThan(4_200);
    expect(result).toMatchObject({ messages: [{ id: "m", content: expect.stringMatching(/…$/) }] });
    expect(result.omitted).toEqual({ files: expect.any(Number) });
  });

  it("are read only as far as they are shown", () => {
    let reads = 0;
    const counted = (content: string) => ({
      type: "human",
      id: content,
      get content() {
        reads += 1;
        return content;
      },
    });
    const messages = Array.from({ length: 10_000 }, (_, n) => counted(`message ${n}`));
    const rest = new Proxy([..."x".repeat(100_000)], {
      get(target, key, receiver) {
        if (typeof key === "string" && /^\d+$/.test(key)) reads += 1;
        return Reflect.get(target, key, receiver);
      },
    });
    states.input("node", { messages, rest });
    states.input("node", { rest });
    expect(reads).toBeLessThan(3_000);
  });

  it("have the new messages, the names of files and what the new messages used", () => {
    const usage_metadata = { input_tokens: 3, output_tokens: 2, total_tokens: 5 };
    const given = { messages: [person("h"), { ...words("a", "earlier"), usage_metadata }] };
    const output = {
      messages: [...given.messages, { ...words("b", "later"), usage_metadata }],
      files: { "/a.md": { content: "long" } },
    };
    expect(states.result("node", output, states.messageIds("node", given))).toEqual({
      messages: [{ id: "b", role: "assistant", content: "later" }],
      files: ["/a.md"],
      usage: usage_metadata,
    });
  });

  it("are read by the keys that the graph publishes, and show its further results", () => {
    const published = createSubgraphStates({
      planner: { messages: "dialogue", files: "papers", output: ["itinerary", "absent"] },
    });
    const given = { dialogue: [person("h")], messages: [person("other")] };
    const output = {
      dialogue: [...given.dialogue, words("b", "planned")],
      papers: [{ path: "/plan.md", content: "long" }],
      messages: [person("other")],
      itinerary: { flight: "KLM" },
    };
    expect(published.result("planner", output, published.messageIds("planner", given))).toEqual({
      messages: [{ id: "b", role: "assistant", content: "planned" }],
      files: ["/plan.md"],
      usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0 },
      output: { itinerary: { flight: "KLM" } },
    });
    expect(published.input("planner", given)).toMatchObject({
      dialogue: [{ id: "h", role: "user", content: "Go on" }],
    });
    const long = { ...output, itinerary: "x".repeat(1_000_000) };
    expect(lengthOf(published.result("planner", long, none))).toBeLessThan(4_200);
  });
});

it("A subgraph's end in the log does not grow with the conversation", () => {
  const content = "Words of about eighty characters, as an agent says them in one turn of a chat. ";
  const history: object[] = [];
  const sizes = Array.from({ length: 60 }, (_, turn) => {
    history.push(person(`h${turn}`));
    const given = { messages: [...history], files: { "/a.md": "x".repeat(10_000) } };
    history.push(words(`a${turn}`, content));
    const result = { ...given, messages: [...history] };
    const task = { id: "1", name: "alice", interrupts: [] };
    const chunks: UpstreamChunk[] = [
      { ns: [], mode: "tasks", data: { ...task, input: given } },
      { ns: ["alice:1"], mode: "values", data: given },
      { ns: ["alice:1"], mode: "tasks", data: { id: "2", name: "model", input: given, interrupts: [] } },
      { ns: [], mode: "tasks", data: { ...task, result } },
    ];
    const ends = drive(chunks).filter(({ type }) => type === "tool_end");
    expect(ends).toHaveLength(1);
    expect(ends[0]?.payload).toMatchObject({ result: { messages: [{ id: `a${turn}` }], files: ["/a.md"] } });
    return lengthOf(ends[0]?.payload ?? null);
  });
  expect(Math.max(...sizes)).toBeLessThan(Math.min(...sizes) + 10);
});
