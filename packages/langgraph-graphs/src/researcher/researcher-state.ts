import { ReducedValue, StateSchema } from "@langchain/langgraph";
import { z } from "zod";

const fileSchema = z.object({
  content: z.string(),
  mimeType: z.string(),
  created_at: z.string(),
  modified_at: z.string(),
});
export const filesSchema = z.record(z.string(), fileSchema);
export type Files = z.infer<typeof filesSchema>;

export const todosSchema = z.array(
  z.object({ content: z.string(), status: z.enum(["pending", "in_progress", "completed"]) }),
);

/** Merged file by file, because subagents write side by side; null deletes, as deepagents' backend means it. */
export const filesValue = new ReducedValue(
  filesSchema.default(() => ({})),
  {
    inputSchema: z.record(z.string(), fileSchema.nullable()).optional(),
    reducer: (current: Files, update) => {
      const merged: Files = { ...current };
      for (const [path, file] of Object.entries(update ?? {})) {
        if (file === null) delete merged[path];
        else merged[path] = file;
      }
      return merged;
    },
  },
);

/**
 * The channels of deepagents' own state, declared so that a server can publish their JSON Schema: the library's `files`
 * admit binary content and its `todos` are of an older zod, and neither has one.
 */
export const ResearcherState = new StateSchema({
  todos: todosSchema.default(() => []),
  files: filesValue,
});
