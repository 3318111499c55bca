import { AIMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import {
  type AgentMiddleware,
  ClearToolUsesEdit,
  contextEditingMiddleware,
  createAgent,
  humanInTheLoopMiddleware,
  modelFallbackMiddleware,
  piiMiddleware,
  providerStrategy,
  summarizationMiddleware,
  todoListMiddleware,
  toolRetryMiddleware,
  toolStrategy,
} from "langchain";
import { z } from "zod";
import { inTurn, ScriptedModel, sayer } from "./scripted-model.js";

/** LangChain's types of its own middleware do not hold under `exactOptionalPropertyTypes`. */
function stock(create: unknown): (...options: readonly unknown[]) => AgentMiddleware {
  return create as (...options: readonly unknown[]) => AgentMiddleware;
}

const weather = tool(async ({ city }) => `Sunny in ${city}`, {
  name: "weather",
  description: "The weather of a city.",
  schema: z.object({ city: z.string() }),
});
const broken = tool(
  async () => {
    throw new Error("The line is dead.");
  },
  { name: "broken", description: "Fails.", schema: z.object({}) },
);

const asksWeather = inTurn(
  { text: "Let me look.", calls: [{ name: "weather", args: { city: "Oslo" }, id: "call_oslo" }] },
  { text: "It is sunny in Oslo." },
);

export const agent = createAgent({ model: new ScriptedModel(asksWeather), tools: [weather] }).graph;

export const parallelTools = createAgent({
  model: new ScriptedModel(
    inTurn(
      {
        calls: [
          { name: "weather", args: { city: "Oslo" }, id: "call_1" },
          { name: "weather", args: { city: "Bergen" }, id: "call_2" },
        ],
      },
      { text: "Both are sunny." },
    ),
  ),
  tools: [weather],
}).graph;

export const hitl = createAgent({
  model: new ScriptedModel(asksWeather),
  tools: [weather],
  middleware: [stock(humanInTheLoopMiddleware)({ interruptOn: { weather: true } })],
}).graph;

export const summarization = createAgent({
  model: new ScriptedModel((messages) => ({ text: `I see ${messages.length} messages.` })),
  tools: [],
  middleware: [
    stock(summarizationMiddleware)({
      model: sayer("They greeted."),
      trigger: { messages: 4 },
      keep: { messages: 2 },
    }),
  ],
}).graph;

export const todoList = createAgent({
  model: new ScriptedModel(
    inTurn(
      {
        calls: [
          {
            name: "write_todos",
            args: { todos: [{ content: "buy milk", status: "pending" }] },
            id: "call_todo",
          },
        ],
      },
      { text: "It is on the list." },
    ),
  ),
  tools: [],
  middleware: [stock(todoListMiddleware)()],
}).graph;

export const pii = createAgent({
  model: sayer("Write to boss@example.com."),
  tools: [],
  middleware: [
    stock(piiMiddleware)("email", { strategy: "redact", applyToInput: true, applyToOutput: true }),
  ],
}).graph;

export const modelFallback = createAgent({
  model: new ScriptedModel(() => {
    throw new Error("overloaded");
  }),
  tools: [],
  middleware: [stock(modelFallbackMiddleware)(sayer("The second model speaks."))],
}).graph;

export const toolRetry = createAgent({
  model: new ScriptedModel(
    inTurn({ calls: [{ name: "broken", args: {}, id: "call_broken" }] }, { text: "It can't be done." }),
  ),
  tools: [broken],
  middleware: [
    stock(toolRetryMiddleware)({ maxRetries: 1, initialDelayMs: 1, jitter: false, onFailure: "continue" }),
  ],
}).graph;

export const contextEditing = createAgent({
  model: new ScriptedModel(asksWeather),
  tools: [weather],
  middleware: [
    stock(contextEditingMiddleware)({
      edits: [new ClearToolUsesEdit({ trigger: { messages: 2 }, keep: { messages: 0 } })],
    }),
  ],
}).graph;

const Forecast = z.object({ city: z.string(), degrees: z.number() });

export const structuredTool = createAgent({
  model: new ScriptedModel((_, tools) => ({
    calls: [{ name: tools.at(-1) ?? "", args: { city: "Oslo", degrees: 7 }, id: "call_structured" }],
  })),
  tools: [],
  responseFormat: toolStrategy(Forecast),
}).graph;

export const structuredProvider = createAgent({
  model: sayer('{"city":"Oslo","degrees":7}'),
  tools: [],
  responseFormat: providerStrategy(Forecast),
}).graph;

/** A tool that reports progress, gives an artifact, and one whose error the model gets as a message. */
const lookup = tool(
  async function* (_: unknown) {
    yield "half";
    return "whole";
  },
  { name: "lookup", description: "Looks up.", schema: z.object({}) },
);
const drawing = tool(async () => ["a drawing", { pixels: [1, 2, 3] }], {
  name: "drawing",
  description: "Draws.",
  schema: z.object({}),
  responseFormat: "content_and_artifact",
});

export const toolArtifacts = createAgent({
  model: new ScriptedModel(
    inTurn(
      {
        calls: [
          { name: "lookup", args: {}, id: "call_lookup" },
          { name: "drawing", args: {}, id: "call_drawing" },
        ],
      },
      { text: "Drawn." },
    ),
  ),
  tools: [lookup, drawing],
}).graph;

export const toolErrors = createAgent({
  model: new ScriptedModel(
    inTurn({ calls: [{ name: "broken", args: {}, id: "call_broken" }] }, { text: "It is broken." }),
  ),
  tools: [broken],
  middleware: [
    stock(toolRetryMiddleware)({ maxRetries: 0, onFailure: (error: Error) => `Failed: ${error.message}` }),
  ],
}).graph;

/** An agent that greets by itself before the model is called. */
export const beforeModel = createAgent({
  model: sayer("What can I do?"),
  tools: [],
  middleware: [
    {
      name: "greeter",
      beforeAgent: () => ({ messages: [new AIMessage({ id: "greeting", content: "Welcome." })] }),
    },
  ],
}).graph;
