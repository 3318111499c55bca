import { modelContextSchema } from "@throughline/langgraph-models";
import { createDeepAgent } from "deepagents";
import { todoListMiddleware } from "langchain";
import type { GraphDeps, RunnableGraph } from "../graph-definition.js";
import { persistence } from "../persistence.js";
import { ConfiguredModel } from "./configured-model.js";
import { createCritic } from "./critic.js";
import { ResearcherState } from "./researcher-state.js";
import { researcherScript, scoutScript } from "./script.js";
import { searchNotes } from "./search-notes.js";

const INSTRUCTIONS = `You answer questions from a small set of notes, with two helpers.
1. Plan with write_todos.
2. Call task for scout and for critic in one message. Describe the task as two lines: "Question: ..." and
   "Write your result to /research/<n>/scout.md" (or critic.md), where n counts the questions of this conversation.
3. Write the report to /research/<n>/report.md with write_file and bring the todos up to date.
4. Answer in a few sentences and name the files that the answer rests on.`;

const SCOUT_INSTRUCTIONS = `You are a scout. Search the notes, write what you found to the file that the task names,
and answer with the findings and the ids of the notes.`;

/** A deep agent: todos, files, and two subagents that work side by side, one of them a graph with a graph inside. */
export function createResearcherGraph(deps: GraphDeps): RunnableGraph {
  const { keys } = deps;
  return createDeepAgent({
    contextSchema: modelContextSchema,
    name: "researcher",
    model: new ConfiguredModel({ keys, offline: researcherScript }),
    systemPrompt: INSTRUCTIONS,
    stateSchema: ResearcherState,
    // @ts-expect-error Under exactOptionalPropertyTypes langchain's own tool type does not fit its own middleware type.
    middleware: [todoListMiddleware()],
    subagents: [
      {
        name: "scout",
        description: "Searches the notes and files what it finds.",
        systemPrompt: SCOUT_INSTRUCTIONS,
        model: new ConfiguredModel({ keys, offline: scoutScript }),
        tools: [searchNotes],
      },
      {
        name: "critic",
        description: "Finds what the notes leave open, and files it.",
        runnable: createCritic(deps),
      },
    ],
    ...persistence(deps),
  }).graph;
}
