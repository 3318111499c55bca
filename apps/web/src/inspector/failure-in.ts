import * as z from "zod/mini";
import type { Failure } from "../conversation/calls/failure-detail";

const told = {
  message: z.string(),
  class: z.optional(z.enum(["graph", "node", "tool", "model", "upstream", "store", "cancelled"])),
  node: z.nullish(z.string()),
};
const errorSchema = z.object({ ...told, name: z.optional(z.string()), stack: z.optional(z.string()) });
const ownSchema = z.object({ name: z.string(), message: z.string(), stack: z.optional(z.string()) });
const endSchema = z.object({ ...told, code: z.string(), own: z.optional(ownSchema) });
const entrySchema = z.union([
  z.object({ type: z.literal("error"), payload: errorSchema }),
  z.object({ type: z.literal("run_end"), payload: z.object({ error: endSchema }) }),
  z.object({
    type: z.literal("RUN_ERROR"),
    message: z.string(),
    code: z.optional(z.string()),
    metadata: z.object({ throughline: z.omit(endSchema, { code: true, message: true }) }),
  }),
]);

/** What an entry of the log, or a frame, says of a failure; `undefined`: it is about something else. */
export function failureIn(text: string): Failure | undefined {
  const read = entrySchema.safeParse(parsed(text));
  if (!read.success) return undefined;
  const entry = read.data;
  switch (entry.type) {
    case "error":
      return entry.payload;
    case "run_end": {
      const { own, ...error } = entry.payload.error;
      return { ...error, ...own };
    }
    case "RUN_ERROR": {
      const { own, ...error } = entry.metadata.throughline;
      return { ...error, message: entry.message, code: entry.code, ...own };
    }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
