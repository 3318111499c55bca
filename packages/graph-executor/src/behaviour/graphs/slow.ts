import {
  END,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { speak } from "./speak.js";

const ENDLESS = Array.from({ length: 5_000 }, (_, index) => `word${index}`).join(" ");

/** Talks for minutes, until its test stops it. */
export const slow = new StateGraph(MessagesAnnotation)
  .addNode("prepare", () => ({}))
  .addNode("talk", async (_, config: LangGraphRunnableConfig) => ({
    messages: [await speak({ text: ENDLESS, paceMs: 20 }, config)],
  }))
  .addEdge(START, "prepare")
  .addEdge("prepare", "talk")
  .addEdge("talk", END)
  .compile({ name: "slow" });
