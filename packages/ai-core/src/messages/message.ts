import { z } from "zod";
import { jsonObjectSchema, jsonSchema } from "../json/json.js";

export const MESSAGE_ROLES = ["user", "assistant", "tool", "system", "developer"] as const;
export const messageRoleSchema = z.enum(MESSAGE_ROLES);
export type MessageRole = z.infer<typeof messageRoleSchema>;

/** A part of a multimodal message. A loose object: providers add kinds faster than we could list them. */
export const contentPartSchema = z.looseObject({ type: z.string() });
export type ContentPart = z.infer<typeof contentPartSchema>;

export const toolCallSchema = z.object({
  id: z.string(),
  name: z.string(),
  /** The arguments exactly as the model wrote them: JSON text, possibly unfinished while it streams. */
  args: z.string(),
});
export type ToolCall = z.infer<typeof toolCallSchema>;

/** One message of a thread, independent of LangChain's and AG-UI's own shapes. */
export const messageSchema = z.object({
  id: z.string(),
  role: messageRoleSchema,
  content: z.union([z.string(), z.array(contentPartSchema)]),
  name: z.string().optional(),
  reasoning: z.string().optional(),
  tool_calls: z.array(toolCallSchema).optional(),
  tool_call_id: z.string().optional(),
  status: z.enum(["success", "error"]).optional(),
});
export type Message = z.infer<typeof messageSchema>;

/** A tool that a frontend offers the graph and runs itself (R30). */
export const frontendToolSchema = z.object({
  name: z.string().min(1),
  description: z.string().default(""),
  parameters: jsonObjectSchema.optional(),
});
export type FrontendTool = z.infer<typeof frontendToolSchema>;

/** A fact the frontend shares with the graph (R30). */
export const contextItemSchema = z.object({ description: z.string(), value: jsonSchema });
export type ContextItem = z.infer<typeof contextItemSchema>;
