import { describe, expect, it } from "vitest";
import { LANGGRAPH_CATALOG } from "../catalog.js";
import { chatDefinition } from "../graphs/chat/definition.js";
import { readArguments } from "./arguments.js";

const read = (...argv: readonly string[]) => readArguments(argv, LANGGRAPH_CATALOG);

describe("the command line", () => {
  it("joins the words after the graph's name into a message", () => {
    expect(
      read("chat", "hello", "there", "--pace", "0", "--model", "fast", "--thread", "t1", "--json"),
    ).toEqual({
      definition: chatDefinition,
      input: { messages: [{ role: "user", content: "hello there" }] },
      json: true,
      model: "fast",
      paceMs: 0,
      thread: "t1",
    });
  });

  it("takes raw input as it is", () => {
    const input = { messages: [{ type: "human", content: "hi", id: "m1" }] };
    expect(read("chat", "--input", JSON.stringify(input))).toMatchObject({ input });
  });

  it("leaves the input open when there is none", () => {
    expect(read("chat")).toMatchObject({ input: undefined, json: false, paceMs: undefined });
  });

  it.each([[[]], [["--help"]], [["chat", "-h"]]])("shows help for %j", (argv) => {
    expect(read(...argv)).toBe("help");
  });

  it.each([
    [["pot"], 'There is no graph "pot". Did you mean "poet"? There are: chat, poet,'],
    [["Researchr"], 'Did you mean "researcher"?'],
    [["zzzzzzzz"], 'There is no graph "zzzzzzzz". There are: chat,'],
    [["--json"], "Name a graph: chat,"],
    [["chat", "--nope"], "Unknown option '--nope'. See --help."],
    [["chat", "--input"], "See --help."],
    [["chat", "--input", "{bad"], "--input is not valid JSON"],
    [["chat", "--input", '{"messages":1}'], "chat does not take this input: messages:"],
    [["chat", "hi", "--input", "{}"], "Give either a text or --input, not both."],
    [["chat", "hi", "--pace", "soon"], "--pace takes milliseconds"],
    [["chat", "hi", "--pace", " "], "--pace takes milliseconds"],
  ])("refuses %j in one line", (argv, message) => {
    expect(() => read(...argv)).toThrow(message);
    expect(() => read(...argv)).toThrow(/^.+$/);
  });
});
