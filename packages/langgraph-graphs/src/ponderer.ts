import { HumanMessage, SystemMessage } from "@langchain/core/messages";
import { END, type LangGraphRunnableConfig, START, StateGraph } from "@langchain/langgraph";
import { createModel, modelContextSchema, type OfflineScript } from "@throughline/langgraph-models";
import {
  ConversationState,
  conversationInputSchema,
  conversationStateSchema,
  type GraphDefinition,
  type GraphDeps,
  persistence,
  type RunnableGraph,
} from "./shared.js";

const INSTRUCTIONS =
  "You think before you answer. Weigh the ways to read the question, then answer in one plain paragraph.";

export function createPondererGraph(deps: GraphDeps): RunnableGraph {
  const ponder = async (state: typeof ConversationState.State, config: LangGraphRunnableConfig) => {
    const model = await createModel(config, { keys: deps.keys, offline: pondererScript });
    return { messages: [await model.invoke([new SystemMessage(INSTRUCTIONS), ...state.messages], config)] };
  };
  return new StateGraph({ state: ConversationState, output: ConversationState, context: modelContextSchema })
    .addNode("ponderer", ponder)
    .addEdge(START, "ponderer")
    .addEdge("ponderer", END)
    .compile({ name: "ponderer", ...persistence(deps) });
}

/** Thinks aloud about the newest question, then answers it: the reasoning and the answer are separate parts. */
const pondererScript: OfflineScript = ({ messages, lastUserText }) => {
  const question = lastUserText.replace(/\s+/g, " ").trim().slice(0, 120) || "nothing at all";
  const subject = question.replace(/[.!?…]+$/, "");
  const earlier = messages.filter((message) => HumanMessage.isInstance(message)).length - 1;
  const history =
    earlier > 0
      ? `We have already spoken ${earlier === 1 ? "once" : `${earlier} times`}, so I should not repeat myself.`
      : "This is our first exchange, so I take the words as they stand.";
  return [
    {
      kind: "reasoning",
      text: `The question is “${question}”. ${history} There are at least two ways to read it: as a wish for a fact, or as a wish for a way to think. A fact can be looked up; a way to think is more useful, so I go with that. I should name what it depends on, and what would change my mind.`,
    },
    {
      kind: "text",
      text: `On “${subject}”: it depends on what you would do differently with each answer. Write down two answers that would lead you to act differently, ask what would have to be true for each, and look for the cheapest way to find out. If nothing you do would change, the question can wait. (I am the offline model: I say this of every question.)`,
    },
  ];
};

export const pondererDefinition: GraphDefinition = {
  graphName: "ponderer",
  name: "Ponderer",
  description: "Thinks aloud first, then answers.",
  capabilities: ["chat", "reasoning"],
  commands: [],
  suggestions: ["Should I learn to juggle?", "Is it better to plan or to begin?"],
  inputSchema: conversationInputSchema,
  outputSchema: conversationStateSchema,
  create: createPondererGraph,
};
