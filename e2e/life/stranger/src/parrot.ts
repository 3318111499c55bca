import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { AIMessage } from "@langchain/core/messages";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { opening } from "./words.js";

/** Told to wait for a file, it answers once the file is there: time enough to be edited in the middle of a run. */
async function repeat({ messages }: typeof MessagesAnnotation.State) {
  const said = messages.at(-1)?.text ?? "";
  const [, file] = /^wait for (\S+)$/.exec(said) ?? [];
  while (file !== undefined && !existsSync(file)) await sleep(20);
  return { messages: [new AIMessage(`${process.env.PARROT_NAME}: ${opening} "${said}".`)] };
}

export const graph = new StateGraph(MessagesAnnotation)
  .addNode("repeat", repeat)
  .addEdge(START, "repeat")
  .compile();
