import type { BaseLanguageModelInput } from "@langchain/core/language_models/base";
import {
  BaseChatModel,
  type BaseChatModelCallOptions,
  type BindToolsInput,
} from "@langchain/core/language_models/chat_models";
import type { AIMessageChunk, BaseMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";
import { ensureConfig, type Runnable } from "@langchain/core/runnables";
import { type CreateModelOptions, createModel, modelContextSchema } from "@throughline/langgraph-models";
import { createDeepAgent } from "deepagents";
import { todoListMiddleware } from "langchain";
import { z } from "zod";
import {
  conversationInputSchema,
  type GraphDefinition,
  type GraphDeps,
  messageSchema,
  persistence,
  type RunnableGraph,
} from "../shared.js";
import { createCritic } from "./critic.js";
import { searchNotes } from "./notes.js";
import { filesSchema, ResearcherState, todosSchema } from "./researcher-state.js";
import { researcherScript, scoutScript } from "./script.js";

const INSTRUCTIONS = `You answer questions from a small set of notes, with two helpers.
1. Plan with write_todos.
2. Call task for scout and for critic in one message. Describe the task as two lines: "Question: ..." and
   "Write your result to /research/<n>/scout.md" (or critic.md), where n counts the questions of this conversation.
3. Write the report to /research/<n>/report.md with write_file and bring the todos up to date.
4. Answer in a few sentences and name the files that the answer rests on.`;

const SCOUT_INSTRUCTIONS = `You are a scout. Search the notes, write what you found to the file that the task names,
and answer with the findings and the ids of the notes.`;

/** A deep agent: todos, files, and two subagents that work side by side, one of them a graph with a graph inside. */
function createResearcherGraph(deps: GraphDeps): RunnableGraph {
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

export interface ConfiguredCallOptions extends BaseChatModelCallOptions {
  tools?: BindToolsInput[];
}

/**
 * A proxy for libraries that need a model at construction: it makes the real one at each call from that call's config.
 * It steps in at `invoke`, before core parts the config from the call's options: below that, `configurable` is gone.
 * The real model reports to the callbacks itself, so tokens, tool calls and usage stream as if no proxy were there.
 */
export class ConfiguredModel extends BaseChatModel<ConfiguredCallOptions> {
  readonly #options: CreateModelOptions;

  constructor(options: CreateModelOptions) {
    super({});
    this.#options = options;
  }

  override _llmType(): string {
    return "configured";
  }

  override bindTools(
    tools: BindToolsInput[],
    kwargs?: Partial<ConfiguredCallOptions>,
  ): Runnable<BaseLanguageModelInput, AIMessageChunk, ConfiguredCallOptions> {
    return this.withConfig({ ...kwargs, tools });
  }

  override async invoke(
    input: BaseLanguageModelInput,
    options?: Partial<ConfiguredCallOptions>,
  ): Promise<AIMessageChunk> {
    const { tools, ...config } = ensureConfig(options);
    const model = await createModel(config, this.#options);
    if (tools === undefined || tools.length === 0) return model.invoke(input, config);
    if (model.bindTools === undefined) throw new TypeError(`${model.getName()} cannot call tools.`);
    return model.bindTools(tools).invoke(input, config);
  }

  override async _generate(messages: BaseMessage[], options: this["ParsedCallOptions"]): Promise<ChatResult> {
    const message = await this.invoke(messages, options);
    return { generations: [{ text: message.text, message }] };
  }
}

const messages = z.array(messageSchema);

export const researcherDefinition: GraphDefinition = {
  graphName: "researcher",
  name: "Researcher",
  description:
    "A deep agent: plans with todos, sends out subagents, keeps files, and answers with its sources.",
  capabilities: ["chat", "tools", "subagents", "subgraphs", "files"],
  commands: [],
  suggestions: ["How do cursors and leases keep a log safe?", "What does an agent do after a crash?"],
  inputSchema: conversationInputSchema,
  outputSchema: z.object({ messages, todos: todosSchema, files: filesSchema }),
  subgraphs: {
    scout: { messages: "messages", files: "files" },
    critic: { messages: "messages", files: "files" },
    evidence: { messages: "messages" },
  },
  create: createResearcherGraph,
};
