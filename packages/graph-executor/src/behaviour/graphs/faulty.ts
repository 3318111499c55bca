import {
  END,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { speak } from "./speak.js";

/** What no client may ever read. */
export const SECRET = "sk-live-do-not-tell";

/** Fails as the last message says: in the `model` after a few tokens, in the `node`, or by walking in a `circle`. */
export const faulty = new StateGraph(MessagesAnnotation)
  .addNode("work", async (state, config: LangGraphRunnableConfig) => {
    const how = state.messages.at(-1)?.text ?? "";
    if (how === "node") throw new Error(`Could not reach the database with ${SECRET}`);
    if (how === "circle") return {};
    const speech = { text: "this will not end well", ...(how === "model" && { failAfterTokens: 2 }) };
    return { messages: [await speak(speech, config)] };
  })
  .addEdge(START, "work")
  .addConditionalEdges("work", (state) => (state.messages.at(-1)?.text === "circle" ? "work" : END), [
    "work",
    END,
  ])
  .compile({ name: "faulty" });
