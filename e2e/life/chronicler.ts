import { setTimeout as pause } from "node:timers/promises";
import { AIMessage } from "@langchain/core/messages";
import {
  END,
  type LangGraphRunnableConfig,
  MessagesValue,
  START,
  StateGraph,
  StateSchema,
} from "@langchain/langgraph";
import { graphRegistry } from "@throughline/graph-executor";
import { describeGraph, LANGGRAPH_CATALOG } from "@throughline/langgraph-graphs";
import { envKeyResolver } from "@throughline/langgraph-models";

const state = new StateSchema({ messages: MessagesValue });
const LINES = 20;
const NOTES_PER_LINE = 10;
/** Told to write at length it goes on for minutes, so that a slow test still finds it writing. */
const NOTES_AT_LENGTH = 100;

/** Repeats what it was told: each line is a step with a checkpoint, and each note is in the store before the line is. */
const chronicle = new StateGraph(state)
  .addNode("write", async ({ messages }: typeof state.State, config: LangGraphRunnableConfig) => {
    const told = messages[0]?.text ?? "";
    const notes = told.includes("at length") ? NOTES_AT_LENGTH : NOTES_PER_LINE;
    for (let note = 0; note < notes; note += 1) {
      await config.store?.put(["chronicle"], `${messages.length}.${note}`, { told });
      config.writer?.({ told, note });
      await pause(150);
    }
    return { messages: [new AIMessage(`${messages.length}: ${told}`)] };
  })
  .addEdge(START, "write")
  .addConditionalEdges("write", ({ messages }) => (messages.length > LINES ? END : "write"))
  .compile();

const schema = { type: "object", properties: { messages: {} } };
const keys = envKeyResolver({});

/** Beside the catalog's graphs one that writes as much as a graph can. */
export default graphRegistry([
  ...LANGGRAPH_CATALOG.map((definition) => ({
    descriptor: describeGraph(definition),
    create: () => definition.create({ keys }),
  })),
  {
    descriptor: {
      graphId: "langgraph:chronicler",
      graphName: "chronicler",
      name: "Chronicler",
      description: "Repeats what it was told, and keeps it wherever it can.",
      capabilities: ["chat"],
      commands: [],
      inputSchema: schema,
      outputSchema: schema,
    },
    create: () => chronicle,
  },
]);
