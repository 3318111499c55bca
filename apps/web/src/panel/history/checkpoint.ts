import { newId, type ThreadName, threadCall } from "@throughline/agent-client";
import * as z from "zod/mini";
import { askService, ServiceError } from "../../service/ask-service";

const checkpointSchema = z.object({
  checkpointId: z.string(),
  createdAt: z.nullable(z.string()),
  source: z.nullable(z.string()),
  step: z.nullable(z.number()),
  values: z.record(z.string(), z.json()),
  next: z.array(z.string()),
  interrupts: z.array(z.unknown()),
  messageIds: z.array(z.string()),
});
const pageSchema = z.object({ checkpoints: z.array(checkpointSchema), next: z.nullable(z.string()) });

/** What the agent held at one moment. */
export type Checkpoint = Readonly<z.output<typeof checkpointSchema>>;

export interface CheckpointPage {
  readonly checkpoints: readonly Checkpoint[];
  readonly hasMore: boolean;
}

/** Newest first. */
export async function listCheckpoints(
  thread: ThreadName,
  limit: number,
  signal: AbortSignal,
): Promise<CheckpointPage> {
  try {
    const path = threadCall(thread, "/history", { limit: String(limit) });
    const { checkpoints, next } = await askService(path, pageSchema, { signal });
    return { checkpoints, hasMore: next !== null };
  } catch (error) {
    if (error instanceof ServiceError && error.code === "not_found")
      return { checkpoints: [], hasMore: false };
    throw error;
  }
}

/** Begins a thread there, and says how it is called. */
export async function forkFrom(thread: ThreadName, checkpointId: string): Promise<string> {
  const threadName = newId(Date.now());
  const body = { threadName, checkpointId };
  await askService(threadCall(thread, "/fork"), z.unknown(), { method: "POST", body });
  return threadName;
}

/** What the agent was about to do. */
export function momentWords({
  next,
  source,
  interrupts,
}: Pick<Checkpoint, "next" | "source" | "interrupts">): string {
  if (interrupts.length > 0)
    return interrupts.length === 1 ? "Asks a question" : `Asks ${interrupts.length} questions`;
  if (next.length === 0) return "Done";
  if (source === "input") return "Asked";
  return `Before ${next.join(", ")}`;
}
