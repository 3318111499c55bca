import { SystemMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import {
  createModel,
  envKeyResolver,
  modelContextSchema,
  type OfflineScript,
} from "@throughline/langgraph-models";

const INSTRUCTIONS = "You are a friendly assistant. Answer in a few sentences.";

/** The agent's replies without a model. With LITELLM_BASE_URL and LITELLM_API_KEY set, a real one answers. */
const offline: OfflineScript = ({ lastUserText }) => [
  { kind: "text", text: `Hello! You wrote: “${lastUserText}”. Edit src/agent.ts to change what I say.` },
];

async function answer({ messages }: typeof MessagesAnnotation.State, config: RunnableConfig) {
  const model = await createModel(config, { keys: envKeyResolver(), offline });
  return { messages: [await model.invoke([new SystemMessage(INSTRUCTIONS), ...messages], config)] };
}

export const graph = new StateGraph({ state: MessagesAnnotation, context: modelContextSchema })
  .addNode("answer", answer)
  .addEdge(START, "answer")
  .compile();
