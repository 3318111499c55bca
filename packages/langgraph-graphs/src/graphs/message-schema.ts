import { z } from "zod";

const contentSchema = z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]);

/** A message as callers send it: with `role` as most people write it, or with `type` as LangGraph stores it. */
export const messageInputSchema = z.union([
  z.object({
    role: z.enum(["user", "human", "assistant", "ai", "system", "tool"]),
    content: contentSchema,
    id: z.string().optional(),
  }),
  z.object({
    type: z.enum(["human", "ai", "system", "tool"]),
    content: contentSchema,
    id: z.string().optional(),
  }),
]);

/** A message of a final state, the same for a message object of this process and for its JSON from a server. */
export const messageSchema = z.object({
  type: z.enum(["human", "ai", "system", "tool"]),
  content: contentSchema,
  id: z.string().optional(),
  name: z.string().optional(),
  tool_calls: z
    .array(z.object({ id: z.string().optional(), name: z.string(), args: z.record(z.string(), z.unknown()) }))
    .optional(),
  tool_call_id: z.string().optional(),
  status: z.enum(["success", "error"]).optional(),
});

/** Input and final state of a graph whose whole state is its conversation. */
export const conversationInputSchema = z.object({ messages: z.array(messageInputSchema).min(1) });
export const conversationStateSchema = z.object({ messages: z.array(messageSchema) });
