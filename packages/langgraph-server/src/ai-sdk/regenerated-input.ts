import { ThroughlineError } from "@throughline/ai-core";
import type { ThreadHub } from "../hub/thread-hub.js";
import type { RunInput } from "../thread/run-input.js";
import type { ThreadAddress } from "../thread/thread-address.js";
import type { ThreadService } from "../threads/thread-service.js";
import type { ChatRequest } from "./chat-request.js";

export interface RegenerateDeps {
  readonly hub: Pick<ThreadHub, "read">;
  readonly threads: Pick<ThreadService, "state" | "checkpointBefore">;
}

/**
 * What makes another answer to the last message of a person that a chat sends. `useChat` has cut off what came after it. The
 * thread goes back to the checkpoint before the first message of its answer. `undefined`: the thread's last run failed or was
 * stopped on this message, which is sent once more.
 */
export async function regeneratedInput(
  { hub, threads }: RegenerateDeps,
  thread: ThreadAddress,
  { messages: sent }: Pick<ChatRequest, "messages">,
): Promise<RunInput | undefined> {
  const said = sent.findLast(({ role }) => role === "user")?.id;
  const { fold } = await hub.read(thread, undefined);
  const isLatest = (fold.messages.findLast(({ role }) => role === "user")?.id ?? said) === said;
  const hasFailed = fold.run?.status === "error" || fold.run?.status === "cancelled";
  if (hasFailed && isLatest) return undefined;
  const { messages = [] } = await threads.state(thread);
  const at = messages.findIndex(({ id, role }) => role === "user" && id === said);
  const behind = at === -1 ? [] : messages.slice(at + 1);
  const next = behind.findIndex(({ role }) => role === "user");
  const answer = behind.slice(0, next === -1 ? undefined : next).find(({ role }) => role === "assistant");
  if (!answer) {
    throw new ThroughlineError(
      "invalid_input",
      "messages: the last one of a person must be one that this thread holds an answer to.",
      { details: { field: "messages" } },
    );
  }
  return { kind: "fork", checkpointId: await threads.checkpointBefore(thread, answer.id), messages: [] };
}
