import {
  type FreshRunStart,
  type GraphFinal,
  type GraphStatePort,
  type Interrupt,
  isStoreOutage,
  type Message,
} from "@throughline/ai-core";
import { currentMessages, isConversation, type ThreadFold } from "@throughline/reading";
import type { RunRecord } from "@throughline/thread-log";
import type { RunMedia } from "./run-media.js";

/**
 * How a thread stands by its checkpoint, told as the end of a run without subscribers (R6, R31). With nodes left to run it pauses,
 * whether or not it asks something.
 */
export async function checkpointFinal(
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
 * Messages that the thread shows behind a checkpoint, with what was said beside them: a run that goes back to it takes them
 * back before it begins. None where the checkpoint can't be read: then the run itself fails.
 */
export async function messagesBehind(
  state: Pick<GraphStatePort, "getState">,
  { graphId, thread: { threadId } }: Pick<RunRecord, "graphId" | "thread">,
  checkpointId: string,
  { messages: shown }: Pick<ThreadFold, "messages">,
): Promise<readonly string[]> {
  const checkpoint = await readOrNone(() => state.getState({ graphId, threadId }, checkpointId));
  // A graph without messages can't tell which of them were there.
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
 * R14: what people said to a foreign run, as far as the thread shows it at its beginning. It was not sent here, and a stream
 * tells only what models say; without it the answer would stand before the question until the run ends.
 */
export async function foreignMessages(
  state: Pick<GraphStatePort, "getState">,
  { graphId, thread }: Pick<RunRecord, "graphId" | "thread">,
  fold: ThreadFold,
  media: Pick<RunMedia, "keep">,
): Promise<readonly Message[]> {
  const shown = new Set(currentMessages(fold).map(({ id }) => id));
  try {
    const checkpoint = await state.getState({ graphId, threadId: thread.threadId });
    media.keep(checkpoint?.files);
    return (checkpoint?.messages ?? []).filter(({ id, role }) => role === "user" && !shown.has(id));
  } catch {
    // The run's end brings it.
    return [];
  }
}

/**
 * What a run leaves open. One that failed or was stopped leaves every question it did not answer: those its checkpoint
 * still lists, and, where that could not be read, those the thread showed before. What it did answer was used up by it, even
 * where a server still lists it.
 */
export function questionsLeft(
  final: GraphFinal,
  start: FreshRunStart,
  { interrupts: shown }: Pick<ThreadFold, "interrupts">,
): readonly Interrupt[] {
  if (final.status === "success") return [];
  if (final.status === "interrupted") return final.interrupts;
  const answered = start.kind === "resume" ? Object.keys(start.answers) : [];
  const kept = answered.length > 0 ? shown : [];
  const open = new Map([...kept, ...final.interrupts].map((asked) => [asked.interrupt_id, asked]));
  for (const id of answered) open.delete(id);
  return [...open.values()];
}
