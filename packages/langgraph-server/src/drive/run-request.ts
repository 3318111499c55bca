import {
  callerSchema,
  contextItemSchema,
  frontendToolSchema,
  type JsonObject,
  jsonObjectSchema,
  profileSchema,
} from "@throughline/ai-core";
import { z } from "zod";

/** What a driver on any instance needs in order to run a row of the registry, beside what the row itself says. */
const runRequestSchema = z.object({
  /** `settle` runs no graph: it writes down what a checkpoint says that no run of ours made (R6, R31). */
  work: z.enum(["graph", "settle"]),
  stateKey: z.string(),
  ingressRequestId: z.string(),
  caller: callerSchema,
  model: z.string(),
  tools: z.array(frontendToolSchema),
  context: z.array(contextItemSchema),
  profile: profileSchema,
});
export type RunRequest = z.infer<typeof runRequestSchema>;

/** As the row keeps it: plain JSON. */
export function toRunRow(request: RunRequest): JsonObject {
  return jsonObjectSchema.parse(JSON.parse(JSON.stringify(request)));
}

export function fromRunRow(row: JsonObject): RunRequest {
  return runRequestSchema.parse(row);
}
