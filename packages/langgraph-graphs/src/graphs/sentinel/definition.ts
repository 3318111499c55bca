import { z } from "zod";
import type { GraphDefinition } from "../graph-definition.js";
import { messageInputSchema, messageSchema } from "../message-schema.js";
import { COMMAND_NAMES, commandSchema } from "./command.js";
import { createSentinelGraph } from "./graph.js";
import {
  LOG_LIMIT,
  lifecycleSchema,
  logEntrySchema,
  reportSchema,
  settingsPatchSchema,
  settingsSchema,
} from "./sentinel-state.js";

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
