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

const state = new StateSchema({ messages: MessagesValue });

/** Keeps what was last said to it in the store, under a label that some stores take for a pattern. */
const graph = new StateGraph(state)
  .addNode("remember", async ({ messages }: typeof state.State, config: LangGraphRunnableConfig) => {
    await config.store?.put(["user_facts"], "last", { text: messages.at(-1)?.text ?? "" });
    return { messages: [new AIMessage("I will remember.")] };
  })
  .addEdge(START, "remember")
  .addEdge("remember", END)
  .compile();

const schema = { type: "object", properties: { messages: {} } };

export default graphRegistry([
  {
    descriptor: {
      graphId: "langgraph:rememberer",
      graphName: "rememberer",
      name: "Rememberer",
      description: "Remembers what was last said.",
      capabilities: ["chat"],
      commands: [],
      inputSchema: schema,
      outputSchema: schema,
    },
    create: () => graph,
  },
]);
