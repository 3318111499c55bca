import { END, type LangGraphRunnableConfig, Send, START, StateGraph } from "@langchain/langgraph";
import { modelContextSchema } from "@throughline/langgraph-models";
import { z } from "zod";
import {
  type GraphDefinition,
  type GraphDeps,
  messageInputSchema,
  messageSchema,
  persistence,
  type RunnableGraph,
} from "../shared.js";
import { COMMAND_NAMES, commandSchema, readCommand, type SentCommand, sentCommandSchema } from "./command.js";
import {
  type CommandTask,
  commandTask,
  commandTaskSchema,
  createCycle,
  fire,
  hire,
  sync,
} from "./commands.js";
import { createStatus } from "./script.js";
import {
  LOG_LIMIT,
  lifecycleSchema,
  logEntrySchema,
  reportSchema,
  SentinelInput,
  SentinelState,
  type SentinelStateValue,
  type SentinelUpdate,
  settingsPatchSchema,
  settingsSchema,
} from "./sentinel-state.js";

/**
 * A command goes to its node, a person's message gets a status, and a state-only input needs no answer. Throughline passes
 * a command next to the input, in the configuration; LangGraph's own tools can only put it into the input.
 */
function route(
  state: SentinelStateValue & { command?: SentCommand },
  config: LangGraphRunnableConfig,
): Send | "status" | typeof END {
  const sent = sentCommandSchema.nullish().parse(config.configurable?.command) ?? state.command;
  if (sent !== undefined) {
    const command = readCommand(sent);
    return new Send(command.name, commandTask(command, state));
  }
  return state.messages.at(-1)?.type === "human" ? "status" : END;
}

type CommandHandler = (
  task: CommandTask,
  config: LangGraphRunnableConfig,
) => SentinelUpdate | Promise<SentinelUpdate>;

/**
 * Parses the command that `route` put in its `Send`, because the graph's types cannot describe a `Send`'s content. The input
 * channel is emptied with the command's result, so that the run's last `values` do not show the command either.
 */
function onCommand(handle: CommandHandler) {
  return async (sent: unknown, config: LangGraphRunnableConfig) => ({
    ...(await handle(commandTaskSchema.parse(sent), config)),
    command: undefined,
  });
}

function createSentinelGraph(deps: GraphDeps): RunnableGraph {
  return new StateGraph({
    state: SentinelState,
    input: SentinelInput,
    output: SentinelState,
    context: modelContextSchema,
  })
    .addNode("hire", onCommand(hire))
    .addNode("cycle", onCommand(createCycle(deps)))
    .addNode("sync", onCommand(sync))
    .addNode("fire", onCommand(fire))
    .addNode("status", createStatus(deps))
    .addConditionalEdges(START, route, [...COMMAND_NAMES, "status", END])
    .compile({ name: "sentinel", ...persistence(deps) });
}

export const sentinelDefinition: GraphDefinition = {
  graphName: "sentinel",
  name: "Sentinel",
  description:
    "Works in the background: hire it, let a schedule run its cycles, change its settings, fire it.",
  capabilities: ["chat", "commands", "background"],
  commands: [...COMMAND_NAMES],
  suggestions: ["How is it going?"],
  inputSchema: z.object({
    command: commandSchema.optional(),
    settings: settingsPatchSchema.optional(),
    messages: z.array(messageInputSchema).optional(),
  }),
  outputSchema: z.strictObject({
    messages: z.array(messageSchema),
    lifecycle: lifecycleSchema,
    settings: settingsSchema,
    lastAppliedClientMutationId: z.string().nullable(),
    cycleCount: z.number().int(),
    lastReport: reportSchema.nullable(),
    log: z.array(logEntrySchema).max(LOG_LIMIT),
  }),
  create: createSentinelGraph,
};
