import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  coerceMessageLikeToMessage,
  HumanMessage,
  RemoveMessage,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import type { Message } from "@throughline/ai-core";
import { toMessage, toMessages } from "@throughline/coerce";
import { describe, expect, it } from "vitest";
import { toGraphMessage } from "./run-input.js";

const call = { id: "c1", name: "add", args: { a: 1 }, type: "tool_call" } as const;

const examples: readonly (readonly [string, BaseMessage, Message])[] = [
  ["a person's text", new HumanMessage({ id: "1", content: "Hi" }), { id: "1", role: "user", content: "Hi" }],
  [
    "a system message",
    new SystemMessage({ id: "1", content: "Be kind" }),
    { id: "1", role: "system", content: "Be kind" },
  ],
  [
    "a person's picture, part by part",
    new HumanMessage({
      id: "1",
      content: [
        { type: "text", text: "What is this?" },
        { type: "image_url", image_url: "data:x" },
      ],
    }),
    {
      id: "1",
      role: "user",
      content: [
        { type: "text", text: "What is this?" },
        { type: "image_url", image_url: "data:x" },
      ],
    },
  ],
  [
    "an answer with calls, its arguments as text",
    new AIMessage({ id: "2", content: "Let me add.", tool_calls: [call], name: "adder" }),
    {
      id: "2",
      role: "assistant",
      content: "Let me add.",
      name: "adder",
      tool_calls: [{ id: "c1", name: "add", args: '{"a":1}' }],
    },
  ],
  [
    "an answer with reasoning among its parts",
    new AIMessageChunk({
      id: "2",
      content: [
        { type: "reasoning", reasoning: "Hm. " },
        { type: "thinking", thinking: "Well." },
        { type: "text", text: "Yes" },
        { type: "text", text: "." },
      ],
    }),
    { id: "2", role: "assistant", content: "Yes.", reasoning: "Hm. Well." },
  ],
  [
    "reasoning that a provider put aside",
    new AIMessage({ id: "2", content: "Yes", additional_kwargs: { reasoning_content: "Hm." } }),
    { id: "2", role: "assistant", content: "Yes", reasoning: "Hm." },
  ],
  [
    "a failed tool's result",
    new ToolMessage({ id: "3", content: "No", tool_call_id: "c1", status: "error", name: "add" }),
    { id: "3", role: "tool", content: "No", name: "add", tool_call_id: "c1", status: "error" },
  ],
  [
    "a tool's result in text parts",
    new ToolMessage({ id: "3", content: [{ type: "text", text: "4" }], tool_call_id: "c1" }),
    { id: "3", role: "tool", content: "4", tool_call_id: "c1" },
  ],
];

describe("toMessage", () => {
  it.each(examples)("reads %s", (_, message, expected) => {
    expect(toMessage(message)).toEqual(expected);
  });

  it.each(examples)(
    "reads %s in LangChain's own serialised form and as a server sends it",
    (_, message, expected) => {
      expect(toMessage(JSON.parse(JSON.stringify(message)))).toEqual(expected);
      expect(toMessage({ ...message.toDict().data, type: message.getType() })).toEqual(expected);
    },
  );

  it("takes the id that was given after a message was made", () => {
    const message = new AIMessage("late");
    message.id = "given";
    expect(toMessage(message)?.id).toBe("given");
  });

  it("passes over what no client shows, and what is no message", () => {
    const others = [
      new RemoveMessage({ id: "1" }),
      new AIMessage("no id"),
      null,
      7,
      "text",
      {},
      { role: "user" },
    ];
    expect(toMessages(others)).toEqual([]);
    expect(toMessages("not a list")).toEqual([]);
  });
});

describe("toGraphMessage", () => {
  it("comes back as it was, through the messages a graph makes of it", () => {
    const messages: readonly Message[] = [
      { id: "1", role: "user", content: "Hi", name: "ann" },
      { id: "2", role: "system", content: "Be kind" },
      { id: "3", role: "assistant", content: "", tool_calls: [{ id: "c1", name: "add", args: '{"a":1}' }] },
      { id: "4", role: "tool", content: "4", tool_call_id: "c1", status: "error" },
      { id: "5", role: "user", content: [{ type: "image_url", image_url: "data:x" }] },
    ];
    for (const message of messages) {
      const made = coerceMessageLikeToMessage(JSON.parse(JSON.stringify(toGraphMessage(message))));
      expect(toMessage(made)).toEqual(message);
    }
  });

  it("gives no arguments where a model never finished writing them", () => {
    const tool_calls = [{ id: "c1", name: "add", args: '{"a":' }];
    expect(toGraphMessage({ id: "1", role: "assistant", content: "", tool_calls })).toMatchObject({
      tool_calls: [{ id: "c1", name: "add", args: {}, type: "tool_call" }],
    });
  });
});
