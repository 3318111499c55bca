import { SystemMessage } from "@langchain/core/messages";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import { createModel } from "@throughline/langgraph-models";
import type { GraphDeps } from "../graph-definition.js";
import { statusScript, statusSentence } from "./script.js";
import type { SentinelStateValue, SentinelUpdate } from "./sentinel-state.js";

/** Cycles fill the history with reports; the facts are in the instructions, so a short tail is enough to talk. */
const REMEMBERED_MESSAGES = 8;

export function createStatus(deps: GraphDeps) {
  return async (state: SentinelStateValue, config: LangGraphRunnableConfig): Promise<SentinelUpdate> => {
    const model = await createModel(config, { keys: deps.keys, offline: statusScript(state) });
    const facts = `You are a sentinel that works in the background. Answer from these facts: ${statusSentence(state)}`;
    const prompt = [new SystemMessage(facts), ...state.messages.slice(-REMEMBERED_MESSAGES)];
    return { messages: [await model.invoke(prompt, config)] };
  };
}
