import { randomUUID } from "node:crypto";
import { AIMessage } from "@langchain/core/messages";
import {
  Annotation,
  END,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";

interface Frontend {
  readonly tools: readonly { readonly name: string }[];
  readonly context: readonly { readonly description: string }[];
}

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  "ag-ui": Annotation<Frontend>,
  copilotkit: Annotation<{ readonly actions: Frontend["tools"] }>,
});

/** Says which tools and facts reached it, by each of the ways in which a graph may look for them. */
export const frontend = new StateGraph(State)
  .addNode("tell", (state, config: LangGraphRunnableConfig) => {
    const configured: Frontend | undefined = config.configurable?.["ag-ui"];
    const told = {
      state: state["ag-ui"]?.tools.map((tool) => tool.name),
      actions: state.copilotkit?.actions.map((tool) => tool.name),
      configurable: configured?.tools.map((tool) => tool.name),
      context: state["ag-ui"]?.context.map((item) => item.description),
    };
    return { messages: [new AIMessage({ id: randomUUID(), content: JSON.stringify(told) })] };
  })
  .addEdge(START, "tell")
  .addEdge("tell", END)
  .compile({ name: "frontend" });
