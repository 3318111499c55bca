import { z } from "zod";

/** The system that a charge's evidence comes from. The executor of the call is `ExecutorType`, not this. */
export const SOURCE_SYSTEMS = ["litellm"] as const;
export const sourceSystemSchema = z.enum(SOURCE_SYSTEMS);
export type SourceSystem = z.infer<typeof sourceSystemSchema>;
