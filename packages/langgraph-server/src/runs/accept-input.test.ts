import type { Message } from "@throughline/ai-core";
import { emptyThreadProjection, type ThreadProjection } from "@throughline/reading";
import { describe, expect, it } from "vitest";
import { acceptInput } from "./accept-input.js";

const user = (id: string, content: Message["content"] = id): Message => ({ id, role: "user", content });
const assistant = (id: string): Message => ({ id, role: "assistant", content: id });
const agent = { inputSchema: { type: "object", properties: { messages: {}, topic: {} } }, commands: [] };

const held: ThreadProjection = {
  ...emptyThreadProjection,
  messages: [user("u1"), assistant("a1")],
  state: { topic: "tides", secret: 1 },
  checkpoint_id: "c1",
};

const ids = (fold: ThreadProjection, messages: readonly Message[]) => {
  const start = acceptInput(fold, agent, { kind: "input", messages });
  return start.kind === "input" ? start.messages.map(({ id }) => id) : start.kind;
};

describe("Input", () => {
  it("is sent as far as the thread does not hold it", () => {
    expect(ids(held, [user("u1"), assistant("a1"), user("u2")])).toEqual(["u2"]);
    expect(ids(emptyThreadProjection, [user("u1"), assistant("a1"), user("u2")])).toEqual(["u1", "a1", "u2"]);
  });

  it("is sent again when it was shown and never stored", () => {
    const shown = { ...emptyThreadProjection, messages: [user("u1")] };
    expect(ids(shown, [user("u1"), user("u2")])).toEqual(["u1", "u2"]);
  });

  it("does not carry back what a subagent once said", () => {
    expect(ids(held, [user("u1"), assistant("sub"), assistant("a1"), user("u2")])).toEqual(["u2"]);
  });

  it("with a tool's result from the frontend is sent", () => {
    const result: Message = { id: "r1", role: "tool", content: "done", tool_call_id: "call" };
    expect(ids(held, [user("u1"), assistant("a1"), result])).toEqual(["r1"]);
  });

  it("that changes a person's words under their id is refused, by field", () => {
    const change = () => ids(held, [user("u1", "other words")]);
    expect(change).toThrow(expect.objectContaining({ code: "invalid_input" }));
    expect(ids(held, [user("u1", [{ type: "text", text: "u1" }]), user("u2")])).toEqual(["u2"]);
    expect(ids(held, [user("u1"), { ...assistant("a1"), content: "in part" }, user("u2")])).toEqual(["u2"]);
  });

  it("sets keys of the input schema alone, and only where they differ", () => {
    const state = { topic: "moons", secret: 2, messages: [], __proto__: { topic: "x" } };
    expect(acceptInput(held, agent, { kind: "input", messages: [], state })).toEqual({
      kind: "input",
      messages: [],
      state: { topic: "moons" },
    });
    expect(acceptInput(held, agent, { kind: "input", messages: [], state: { topic: "tides" } })).toEqual({
      kind: "input",
      messages: [],
    });
  });

  it("sets every key of a graph whose input schema names none, but those of LangGraph", () => {
    const functional = { inputSchema: { type: "object", properties: {} }, commands: [] };
    const input = { kind: "input", messages: [], state: { topic: "tides", tone: "dry", __x: 1 } } as const;
    expect(acceptInput(held, functional, input)).toEqual({
      kind: "input",
      messages: [],
      state: { tone: "dry" },
    });
  });

  it("of a mutation sets its keys also where they do not differ, because by its turn they may", () => {
    const input = { kind: "input", messages: [], state: { topic: "tides" } } as const;
    const accepted = { kind: "input", messages: [], state: { topic: "tides" } };
    expect(acceptInput(held, agent, input, { name: "sync" })).toEqual(accepted);
    expect(acceptInput(held, agent, input, { name: "own", clientMutationId: "m1" })).toEqual(accepted);
    expect(acceptInput(held, agent, input, { name: "own" })).toEqual({ kind: "input", messages: [] });
  });

  it("P52: holds no command as state, unless the agent has none and means something else by it", () => {
    const schema = { type: "object", properties: { command: {} } };
    const input = { kind: "input", messages: [], state: { command: { name: "fire" } } } as const;
    const accepted = (commands: string[]) => acceptInput(held, { inputSchema: schema, commands }, input);
    expect(accepted(["fire"])).toEqual({ kind: "input", messages: [] });
    expect(accepted([])).toEqual({ kind: "input", messages: [], state: { command: { name: "fire" } } });
  });

  it("P53: alone goes with a command: an answer or a fork does not", () => {
    const command = { name: "sync" };
    for (const input of [
      { kind: "resume", answers: { q1: 1 } },
      { kind: "answer", value: 1 },
      { kind: "fork", checkpointId: "c1", messages: [] },
    ] as const) {
      expect(() => acceptInput(held, agent, input, command)).toThrow(
        expect.objectContaining({ code: "invalid_input", details: { field: "command" } }),
      );
    }
  });

  it("that answers without a name answers the one open question", () => {
    const question = (interrupt_id: string) => ({ interrupt_id, value: "?", node: null, ns: [] });
    const answer = { kind: "answer", value: "yes" } as const;
    expect(acceptInput({ ...held, interrupts: [question("q1")] }, agent, answer)).toEqual({
      kind: "resume",
      answers: { q1: "yes" },
    });
    expect(acceptInput(held, agent, answer)).toEqual({ kind: "no_question" });
    expect(() =>
      acceptInput({ ...held, interrupts: [question("q1"), question("q2")] }, agent, answer),
    ).toThrow(expect.objectContaining({ code: "invalid_input" }));
  });
});
