import { z } from "zod";
import { parsedJson, parsedObject } from "./parsed-json.js";

/** R29: a wish that is not state. */
const commandSchema = z.strictObject({
  name: z.string().min(1).max(128),
  clientMutationId: z.string().min(1).max(256).optional(),
  args: parsedObject.optional(),
});
export type Command = z.infer<typeof commandSchema>;

/** What a request may ask of us beyond AG-UI. Unknown keys are refused: a misspelt option must not be ignored. */
const throughlineSchema = z.strictObject({
  command: commandSchema.optional(),
  /** Of `connect`: stay over many runs. */
  follow: z.boolean().optional(),
  /** R15. */
  interrupts: z.enum(["legacy", "standard", "both"]).optional(),
  /** R24. */
  strategy: z.enum(["reject", "enqueue", "preempt"]).optional(),
  profile: z.enum(["user", "debug"]).optional(),
  model: z.string().min(1).max(128).optional(),
  /** Runs again from a checkpoint of the past. */
  fork: z.strictObject({ checkpointId: z.string().min(1).max(256) }).optional(),
});

/**
 * R29: the whitelist. Everything else is dropped here: `forwardedProps` is where other servers let a client set a graph's
 * `configurable`, and with it somebody else's thread.
 */
export const forwardedPropsSchema = z.object({
  throughline: throughlineSchema.optional(),
  /** The legacy answer to an interrupt. Other commands of LangGraph (`goto`, `update`) are not for clients. */
  command: z
    .object({ resume: parsedJson.optional(), interruptId: z.string().min(1).max(512).optional() })
    .nullish(),
});
