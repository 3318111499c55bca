import { z } from "zod";
import { jsonObjectSchema } from "../json/json.js";

/**
 * R29: a wish that is not state. A graph finds it as `config.configurable.command`, for as long as the run lasts and also
 * when the run is taken up after a crash; it is written nowhere that is shown.
 */
export const agentCommandSchema = z.object({
  name: z.string().min(1).max(128),
  /** Comes back as the state's `lastAppliedClientMutationId` once the graph has applied what came with it. */
  clientMutationId: z.string().min(1).max(256).optional(),
  args: jsonObjectSchema.optional(),
});
export type AgentCommand = z.infer<typeof agentCommandSchema>;
