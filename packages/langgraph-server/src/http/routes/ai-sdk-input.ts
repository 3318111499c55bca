import { ThroughlineError, threadNameSchema } from "@throughline/ai-core";
import { z } from "zod";
import type { ThreadService } from "../../runs/thread-service.js";
import type { ThreadStreams } from "../../streams/stream-types.js";
import type { RunInput } from "../../threads/run-spec.js";
import { type ThreadAddress, threadVisibilitySchema } from "../../threads/thread-address.js";
import {
  type AgUiMessage,
  filenameSchema,
  mediaUrlSchema,
  messageIdSchema,
  mimeTypeSchema,
} from "./ag-ui-input.js";
import {
  contextSchema,
  type RunAgentInput,
  resumeEntrySchema,
  runIdSchema,
  toolSchema,
} from "./ag-ui-schema.js";

const textPartSchema = z.object({ type: z.literal("text"), text: z.string() });
const filePartSchema = z.object({
  type: z.literal("file"),
  mediaType: mimeTypeSchema,
  url: mediaUrlSchema,
  filename: filenameSchema.optional(),
});
type UserPart = z.infer<typeof textPartSchema> | z.infer<typeof filePartSchema>;

const userMessageSchema = z.object({
  role: z.literal("user"),
  id: messageIdSchema,
  parts: z.array(z.discriminatedUnion("type", [textPartSchema, filePartSchema])),
});
/** An assistant's message. Its text is the thread's own and is not read back from a client. */
const otherMessageSchema = z.object({
  role: z.enum(["assistant", "system"]),
  id: z.string().max(1_024).optional(),
});

/** The body that `useChat` sends by `DefaultChatTransport`, with the fields that a page may add. */
export const chatRequestSchema = z.object({
  id: threadNameSchema.describe("The chat's id: the thread's name."),
  messages: z
    .array(z.discriminatedUnion("role", [userMessageSchema, otherMessageSchema]))
    .default([])
    .meta({
      description:
        "All of the chat's messages, or only the last. A person's that the thread does not hold are new.",
      examples: [[{ id: "my-message", role: "user", parts: [{ type: "text", text: "Hello" }] }]],
    }),
  trigger: z
    .enum(["submit-message", "regenerate-message"])
    .optional()
    .describe(
      "To regenerate is to answer the last message of a person once more: the thread goes back to before its answer.",
    ),
  resume: z.array(resumeEntrySchema).optional().describe("Answers to the questions that wait."),
  runId: runIdSchema.optional().describe("A name of the run: the same again attaches to the same run."),
  tools: z.array(toolSchema).optional().describe("What the page offers to run itself."),
  context: z.array(contextSchema).optional().describe("Facts that the page shares with the agent."),
  model: z.string().min(1).max(128).optional(),
  strategy: z
    .enum(["reject", "enqueue", "preempt"])
    .default("reject")
    .describe("What becomes of a run whose thread is busy."),
  visibility: threadVisibilitySchema,
});
export type ChatRequest = z.infer<typeof chatRequestSchema>;

/** Converts a chat request to AG-UI's form, with only those messages that have no response yet. */
export function runAgentInputOf({ id, messages, runId, resume, tools, context }: ChatRequest): RunAgentInput {
  const answered = messages.findLastIndex(({ role }) => role === "assistant");
  const unanswered = messages
    .slice(answered + 1)
    .flatMap((message): AgUiMessage[] =>
      message.role === "user" ? [{ role: "user", id: message.id, content: contentOf(message.parts) }] : [],
    );
  return { threadId: id, messages: unanswered, runId, resume, tools, context };
}

function contentOf(parts: readonly UserPart[]): Extract<AgUiMessage, { role: "user" }>["content"] {
  const isText = (part: UserPart) => part.type === "text";
  if (parts.every(isText)) return parts.map((part) => part.text).join("");
  return parts.map((part) => {
    if (part.type === "text") return part;
    const { mediaType: mimeType, url, filename } = part;
    return { type: "binary", mimeType, url, filename };
  });
}

export interface RegenerateDeps {
  readonly hub: Pick<ThreadStreams, "read">;
  readonly threads: Pick<ThreadService, "state" | "checkpointBefore">;
}

/**
 * Returns the input that regenerates the response to the last user message of a chat. `useChat` has cut off what came after it. The
 * thread is rewound to the checkpoint before the first message of the response. `undefined`: the thread's last run failed or was
 * stopped on this message, which is sent once more.
 */
export async function regeneratedInput(
  { hub, threads }: RegenerateDeps,
  thread: ThreadAddress,
  { messages: sent }: Pick<ChatRequest, "messages">,
): Promise<RunInput | undefined> {
  const userId = sent.findLast(({ role }) => role === "user")?.id;
  const { fold } = await hub.read(thread, undefined);
  const isLatest = (fold.messages.findLast(({ role }) => role === "user")?.id ?? userId) === userId;
  const hasFailed = fold.run?.status === "error" || fold.run?.status === "cancelled";
  if (hasFailed && isLatest) return undefined;
  const { messages = [] } = await threads.state(thread);
  const at = messages.findIndex(({ id, role }) => role === "user" && id === userId);
  const behind = at === -1 ? [] : messages.slice(at + 1);
  const next = behind.findIndex(({ role }) => role === "user");
  const response = behind.slice(0, next === -1 ? undefined : next).find(({ role }) => role === "assistant");
  if (!response) {
    throw new ThroughlineError(
      "invalid_input",
      "messages: the last one of a person must be one that this thread holds an answer to.",
      { details: { field: "messages" } },
    );
  }
  return { kind: "fork", checkpointId: await threads.checkpointBefore(thread, response.id), messages: [] };
}
