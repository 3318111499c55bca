import { z } from "zod";

/**
 * What failed. `graph`: LangGraph's own work between the nodes; `node`: a node's code; `tool`, `model`: what it called;
 * `upstream`: a server that it or we talk to; `store`: our own stores; `cancelled`: it was stopped.
 */
export const ERROR_CLASSES = ["graph", "node", "tool", "model", "upstream", "store", "cancelled"] as const;
export const errorClassSchema = z.enum(ERROR_CLASSES);
export type ErrorClass = z.infer<typeof errorClassSchema>;
