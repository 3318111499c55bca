import { AIMessage, AIMessageChunk, SystemMessage } from "@langchain/core/messages";
import {
  END,
  type LangGraphRunnableConfig,
  MessagesValue,
  START,
  StateGraph,
  StateSchema,
} from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { createModel } from "@throughline/langgraph-models";
import { StateBackend } from "deepagents";
import { ConversationState, type GraphDeps } from "../shared.js";
import { readAssignment } from "./assignment.js";
import { searchNotes } from "./notes.js";
import { filesValue } from "./researcher-state.js";
import { CRITIC_FALLBACK_PATH, criticScript } from "./script.js";

const CriticState = new StateSchema({ messages: MessagesValue, files: filesValue });

const INSTRUCTIONS = `You are a critic. Search the notes for the question once, then say in a sentence or two
which part of the question they leave open. Do not answer the question yourself.`;

/** The loop of model and search, a graph of its own inside the critic. */
function createEvidence(deps: GraphDeps) {
  const weigh = async (state: typeof ConversationState.State, config: LangGraphRunnableConfig) => {
    const model = await createModel(config, { keys: deps.keys, offline: criticScript });
    const bound = model.bindTools?.([searchNotes]) ?? model;
    return { messages: [await bound.invoke([new SystemMessage(INSTRUCTIONS), ...state.messages], config)] };
  };
  return new StateGraph({ state: ConversationState, output: ConversationState })
    .addNode("weigh", weigh)
    .addNode("search", new ToolNode([searchNotes]))
    .addEdge(START, "weigh")
    .addConditionalEdges("weigh", (state) => (wantsTools(state.messages.at(-1)) ? "search" : END), [
      "search",
      END,
    ])
    .addEdge("search", "weigh")
    .compile({ name: "evidence" });
}

/** Files through deepagents' own backend, which owns the shape of a file; it writes to this task's `files`. */
async function fileCritique({ messages }: typeof CriticState.State): Promise<typeof CriticState.Update> {
  const { path } = readAssignment(messages[0]?.text ?? "", CRITIC_FALLBACK_PATH);
  new StateBackend().write(path, `${messages.at(-1)?.text ?? ""}\n`);
  return {};
}

/** A subagent that is a plain compiled graph: gather evidence, then file the verdict in the assignment's file. */
export function createCritic(deps: GraphDeps) {
  return new StateGraph({ state: CriticState, output: CriticState })
    .addNode("evidence", createEvidence(deps))
    .addNode("file_critique", fileCritique)
    .addEdge(START, "evidence")
    .addEdge("evidence", "file_critique")
    .addEdge("file_critique", END)
    .compile({ name: "critic" });
}

function wantsTools(message: unknown): boolean {
  const isAi = AIMessage.isInstance(message) || AIMessageChunk.isInstance(message);
  return isAi && (message.tool_calls?.length ?? 0) > 0;
}
