import {
  type FreshRunStart,
  type GraphFinal,
  type GraphStatePort,
  type Interrupt,
  isStoreOutage,
  type Message,
} from "@throughline/ai-core";
import { currentMessages, isConversation, type ThreadProjection } from "@throughline/reading";
import type { RunRecord } from "@throughline/thread-log";
import type { RunMedia } from "./run-media.js";

/**
 * A thread's status by its checkpoint, as the end of a run without subscribers (R6, R31). With nodes left to run it pauses,
 * with or without an interrupt.
 */
export async function finalFromCheckpoint(
  state: GraphStatePort,
  { graphId, thread }: Pick<RunRecord, "graphId" | "thread">,
): Promise<GraphFinal> {
  const checkpoint = await state.getState({ graphId, threadId: thread.threadId });
  const interrupts = checkpoint?.interrupts ?? [];
  return {
    ok: true,
    status: interrupts.length + (checkpoint?.next.length ?? 0) > 0 ? "interrupted" : "success",
    ...(checkpoint && {
      checkpointId: checkpoint.checkpointId,
      state: checkpoint.state,
      ...(checkpoint.messages && { messages: checkpoint.messages }),
      ...(checkpoint.files && { files: checkpoint.files }),
    }),
    interrupts,
  };
}

/**
 * Messages that the thread shows after a checkpoint, with their side messages: a run that rewinds to it retracts them
 * before it begins. None where the checkpoint can't be read: then the run itself fails.
 */
export async function messagesAfter(
  state: Pick<GraphStatePort, "getState">,
  { graphId, thread: { threadId } }: Pick<RunRecord, "graphId" | "thread">,
  checkpointId: string,
  { messages: shown }: Pick<ThreadProjection, "messages">,
): Promise<readonly string[]> {
  const checkpoint = await readOrNone(() => state.getState({ graphId, threadId }, checkpointId));
  // A graph without messages does not show which of them were there.
  if (!checkpoint?.messages) return [];
  const held = new Set(checkpoint.messages.map(({ id }) => id));
  const first = shown.findIndex((message) => isConversation(message) && !held.has(message.id));
  if (first < 0) return [];
  return shown
    .slice(first)
    .map(({ id }) => id)
    .filter((id) => !held.has(id));
}

async function readOrNone<Result>(read: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isStoreOutage(error)) throw error;
    return undefined;
  }
}

/**
 * R14: the user messages of an external run, as far as the thread shows them at its beginning. They were not sent here, and a
 * stream carries only what models write; without them the model's reply would precede the user's message until the run ends.
 */
export async function unseenUserMessages(
  state: Pick<GraphStatePort, "getState">,
  { graphId, thread }: Pick<RunRecord, "graphId" | "thread">,
  fold: ThreadProjection,
  media: Pick<RunMedia, "keep">,
): Promise<readonly Message[]> {
  const shown = new Set(currentMessages(fold).map(({ id }) => id));
  try {
    const checkpoint = await state.getState({ graphId, threadId: thread.threadId });
    media.keep(checkpoint?.files);
    return (checkpoint?.messages ?? []).filter(({ id, role }) => role === "user" && !shown.has(id));
  } catch {
    // The run's end brings them.
    return [];
  }
}

/**
 * Interrupts that a run leaves open. A failed or stopped run leaves every interrupt it had no response to: those its checkpoint
 * still lists, and, where that could not be read, those the thread showed before. Interrupts it had responses to are consumed,
 * even where a server still lists them.
 */
export function openInterruptsAfter(
  final: GraphFinal,
  start: FreshRunStart,
  { interrupts: shown }: Pick<ThreadProjection, "interrupts">,
): readonly Interrupt[] {
  if (final.status === "success") return [];
  if (final.status === "interrupted") return final.interrupts;
  const answered = start.kind === "resume" ? Object.keys(start.answers) : [];
  const stillShown = answered.length > 0 ? shown : [];
  const open = new Map([...stillShown, ...final.interrupts].map((asked) => [asked.interrupt_id, asked]));
  for (const id of answered) open.delete(id);
  return [...open.values()];
}
