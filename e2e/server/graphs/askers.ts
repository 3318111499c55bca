import { AIMessage, ToolMessage } from "@langchain/core/messages";
import {
  END,
  interrupt,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { OfflineChatModel, type OfflinePart } from "@throughline/langgraph-models";

type State = typeof MessagesAnnotation.State;

function speak({ messages }: State, config: LangGraphRunnableConfig, ...parts: readonly OfflinePart[]) {
  const callSite = String(config.metadata?.langgraph_checkpoint_ns).replace(/:[^|]*/g, "");
  const model = new OfflineChatModel({ script: () => parts, paceMs: 0, callSite });
  return model.invoke(messages, config);
}

function ask(question: string) {
  return async (state: State, config: LangGraphRunnableConfig) => {
    const answer = interrupt({ question });
    return { messages: [await speak(state, config, { kind: "text", text: `${question} ${answer}.` })] };
  };
}

/** Two questions at once, from two nodes side by side; the last word waits for both answers. */
export const pair = new StateGraph(MessagesAnnotation)
  .addNode("left", ask("left?"))
  .addNode("right", ask("right?"))
  .addNode("join", async (state, config: LangGraphRunnableConfig) => ({
    messages: [await speak(state, config, { kind: "text", text: "Both were answered." })],
  }))
  .addEdge(START, "left")
  .addEdge(START, "right")
  .addEdge(["left", "right"], "join")
  .addEdge("join", END)
  .compile({ name: "pair" });

const inner = new StateGraph(MessagesAnnotation)
  .addNode("deepest", ask("how deep?"))
  .addEdge(START, "deepest")
  .compile({ name: "inner" });
const middle = new StateGraph(MessagesAnnotation)
  .addNode("inner", inner)
  .addEdge(START, "inner")
  .compile({ name: "middle" });

/** A question from a graph within a graph. */
export const nest = new StateGraph(MessagesAnnotation)
  .addNode("greet", async (state, config: LangGraphRunnableConfig) => ({
    messages: [await speak(state, config, { kind: "text", text: "One question." })],
  }))
  .addNode("middle", middle)
  .addEdge(START, "greet")
  .addEdge("greet", "middle")
  .compile({ name: "nest" });

/** A tool that asks before it acts: the call was shown before the question, and is not made again after it. */
export const careful = new StateGraph(MessagesAnnotation)
  .addNode("plan", async (state, config: LangGraphRunnableConfig) => ({
    messages: [
      await speak(
        state,
        config,
        { kind: "text", text: "Let me order it." },
        { kind: "toolCall", name: "order", args: { what: "a very long rope" } },
      ),
    ],
  }))
  .addNode("tools", ({ messages }) => {
    const last = messages.at(-1);
    const call = AIMessage.isInstance(last) ? last.tool_calls?.[0] : undefined;
    const answer = interrupt({ question: "Really?" });
    return {
      messages: [
        new ToolMessage({ id: "ordered", tool_call_id: call?.id ?? "", content: `ordered: ${answer}` }),
      ],
    };
  })
  .addNode("say", async (state, config: LangGraphRunnableConfig) => ({
    messages: [await speak(state, config, { kind: "text", text: "It is on its way." })],
  }))
  .addEdge(START, "plan")
  .addEdge("plan", "tools")
  .addEdge("tools", "say")
  .compile({ name: "careful" });
