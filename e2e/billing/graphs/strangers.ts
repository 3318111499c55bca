import { tool } from "@langchain/core/tools";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI as StrangersModel } from "@langchain/openai";
import { z } from "zod";
import { besideCatalog } from "../../server/graphs/beside-catalog.js";

// Made as people make them who never heard of a meter: when the module is loaded, with the library's own defaults.
const cheap = new StrangersModel({ model: "cheap" });
const dear = new StrangersModel({ model: "dear" });

const talker = (name: string, model: StrangersModel) =>
  new StateGraph(MessagesAnnotation)
    .addNode("talk", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addEdge(START, "talk")
    .compile({ name });

const weather = tool(({ city }) => `It rains in ${city}.`, {
  name: "weather",
  description: "The weather of a city",
  schema: z.object({ city: z.string() }),
});

/** Asks the model, does what it wants, and asks again, until it wants nothing more. */
const looper = new StateGraph(MessagesAnnotation)
  .addNode("ask", async ({ messages }) => ({ messages: [await cheap.bindTools([weather]).invoke(messages)] }))
  .addNode("tools", new ToolNode([weather]))
  .addEdge(START, "ask")
  .addConditionalEdges("ask", toolsCondition)
  .addEdge("tools", "ask")
  .compile({ name: "looper" });

/** Two subgraphs side by side, each with a model of its own. */
const pair = new StateGraph(MessagesAnnotation)
  .addNode("left", talker("left", cheap))
  .addNode("right", talker("right", dear))
  .addEdge(START, "left")
  .addEdge(START, "right")
  .compile({ name: "pair" });

/** The graphs that ship, whose models are ours, and those of people who know nothing of us. */
export default besideCatalog({
  stranger: talker("stranger", cheap),
  unlisted: talker("unlisted", new StrangersModel({ model: "not-on-the-list", maxRetries: 0 })),
  looper,
  pair,
});
