import { type LangGraphRunnableConfig, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { OfflineChatModel, type OfflinePart } from "@throughline/langgraph-models";

/** Sends the page on an errand, and says what came back. The page's tool is the page's: no node runs it. */
export const errand = new StateGraph(MessagesAnnotation)
  .addNode("speak", async ({ messages }, config: LangGraphRunnableConfig) => {
    const last = messages.at(-1);
    const part: OfflinePart =
      last?.getType() === "tool"
        ? { kind: "text", text: `The page said: ${last.text}` }
        : { kind: "toolCall", name: "pick_colour", args: { of: last?.text ?? "" } };
    const model = new OfflineChatModel({
      script: () => [part],
      paceMs: 0,
      callSite: String(messages.length),
    });
    return { messages: [await model.invoke(messages, config)] };
  })
  .addEdge(START, "speak")
  .compile({ name: "errand" });
