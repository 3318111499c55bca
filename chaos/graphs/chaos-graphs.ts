import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import {
  END,
  interrupt,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI } from "@langchain/openai";
import { OfflineChatModel, type OfflinePart } from "@throughline/langgraph-models";
import { z } from "zod";
import { besideCatalog } from "../../e2e/server/graphs/beside-catalog.js";

type State = typeof MessagesAnnotation.State;

const weather = tool(({ city }) => `It rains in ${city}.`, {
  name: "weather",
  description: "The weather of a city",
  schema: z.object({ city: z.string() }),
});

const hasLitellm = (process.env.LITELLM_BASE_URL ?? "") !== "";
const cheap = hasLitellm ? new ChatOpenAI({ model: "cheap" }) : undefined;

/** What the last message of a person says, as `openai-upstream` reads it. */
function readPlan(messages: readonly BaseMessage[]) {
  const last = messages.findLast((message) => message.getType() === "human")?.text ?? "";
  const number = (name: string) => Number(new RegExp(`\\b${name}=(\\d+)`).exec(last)?.[1] ?? 0);
  return { tokens: number("tokens"), delay: number("delay"), tools: number("tools") };
}

/** Through LiteLLM where there is one, else a script that does the same. */
async function askModel({ messages }: State, config: LangGraphRunnableConfig, mayCallTools: boolean) {
  if (cheap) return (mayCallTools ? cheap.bindTools([weather]) : cheap).invoke(messages, config);
  const { tokens, delay, tools } = readPlan(messages);
  const isFirst = AIMessage.isInstance(messages.at(-1)) === false && messages.at(-1)?.getType() === "human";
  const parts: OfflinePart[] = [
    { kind: "text", text: Array.from({ length: tokens }, (_, index) => `w${index}`).join(" ") },
  ];
  if (mayCallTools && isFirst && tools > 0)
    parts.push({ kind: "toolCall", name: "weather", args: { city: "Delft" } });
  const model = new OfflineChatModel({
    script: () => parts,
    paceMs: delay,
    callSite: String(messages.length),
  });
  return model.invoke(messages, config);
}

/** Asks the model, does what it wants, and asks again, until it wants nothing more. */
const speaker = new StateGraph(MessagesAnnotation)
  .addNode("ask", async (state, config: LangGraphRunnableConfig) => ({
    messages: [await askModel(state, config, true)],
  }))
  .addNode("tools", new ToolNode([weather]))
  .addEdge(START, "ask")
  .addConditionalEdges("ask", toolsCondition)
  .addEdge("tools", "ask")
  .compile({ name: "speaker" });

/** Asks the model, then the person, then the model again. */
const asker = new StateGraph(MessagesAnnotation)
  .addNode("prepare", async (state, config: LangGraphRunnableConfig) => ({
    messages: [await askModel(state, config, false)],
  }))
  .addNode("question", ({ messages }) => {
    const answer = interrupt({ question: "Shall I go on?" });
    // Named here: LangGraph would give it another id at each read of a run that was stopped right behind it.
    const id = `answer-${messages.length}`;
    return { messages: [{ id, role: "user", content: `tokens=3 the answer is ${JSON.stringify(answer)}` }] };
  })
  .addNode("conclude", async (state, config: LangGraphRunnableConfig) => ({
    messages: [await askModel(state, config, false)],
  }))
  .addEdge(START, "prepare")
  .addEdge("prepare", "question")
  .addEdge("question", "conclude")
  .addEdge("conclude", END)
  .compile({ name: "asker" });

/** Those that ship, of which `sentinel` takes commands, and two that do what a message says. */
export default besideCatalog({ speaker, asker });
