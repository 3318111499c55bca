import type { CallView, MessageView } from "@throughline/agent-client";
import type { CallIndex } from "./call-index";

/** A run, or what will be one, with what was said in it. */
export interface Turn {
  readonly key: string;
  readonly runId: string | undefined;
  /** What a person said to begin it; a run that a schedule began has none. */
  readonly userId: string | undefined;
  readonly messageIds: readonly string[];
  /** Begun by an answer to what the run before it asked. */
  readonly isAnswer: boolean;
}

interface Segment {
  runId: string | undefined;
  readonly userId: string | undefined;
  readonly isLocal: boolean;
  readonly messageIds: string[];
}

/** How far a message's own time may lie from its run's beginning: clocks differ, and a thread may have been busy. */
const NEAR_S = 120;
const SERVICE_RUN = "throughline:";

/**
 * Which message belongs to which run. A message does not say; the model call that said it does. What a person said belongs to
 * the run that answers. A run that said nothing (a command, a failure) has its place by the order in which runs began.
 */
export function turnsOf(messages: readonly MessageView[], index: CallIndex): readonly Turn[] {
  const segments = segmentsOf(messages, index);
  const placed = new Set(segments.map(({ runId }) => runId));
  const order = new Map(index.runs.map((run, at) => [run.runId, at]));
  for (const run of index.runs) {
    if (placed.has(run.runId) || run.runId.startsWith(SERVICE_RUN) || isBookkeeping(run, index)) continue;
    placeRun(segments, run, order);
  }
  return segments.map(({ runId, userId, messageIds }, at) => ({
    key: userId ?? runId ?? messageIds[0] ?? "turn",
    runId,
    userId,
    messageIds,
    isAnswer: userId === undefined && isWaiting(segments[at - 1], index),
  }));
}

/** Nobody did anything: the thread was brought up to what the graph holds, as after a fork. */
function isBookkeeping(run: CallView, index: CallIndex): boolean {
  return run.startedBy?.kind === "foreign" && run.status === "ok" && index.callsOf(run.runId).length === 1;
}

function segmentsOf(messages: readonly MessageView[], index: CallIndex): Segment[] {
  const segments: Segment[] = [];
  const asked = new Set(messages.flatMap(({ toolCalls }) => toolCalls?.map(({ id }) => id) ?? []));
  for (const message of messages) {
    if (!isShown(message, asked)) continue;
    if (message.role === "user") {
      segments.push({
        runId: undefined,
        userId: message.id,
        isLocal: message.local !== undefined,
        messageIds: [],
      });
      continue;
    }
    const current = segments.at(-1);
    const runId = runOf(message, index);
    const isOther =
      runId === undefined
        ? // Behind a question comes what its answer led to.
          isWaiting(current, index)
        : current?.runId !== undefined && current.runId !== runId;
    if (!current || isOther) {
      segments.push({ runId, userId: undefined, isLocal: false, messageIds: [message.id] });
      continue;
    }
    current.runId ??= runId;
    current.messageIds.push(message.id);
  }
  return segments;
}

function isWaiting(segment: Segment | undefined, index: CallIndex): boolean {
  return segment?.runId !== undefined && index.runById.get(segment.runId)?.status === "interrupted";
}

function isShown(message: MessageView, asked: ReadonlySet<string>): boolean {
  if (message.subagentRunId !== undefined) return false;
  if (message.role === "system" || message.role === "developer") return false;
  // A result shows where its call does.
  return message.role !== "tool" || message.toolCallId === undefined || !asked.has(message.toolCallId);
}

function runOf(message: MessageView, index: CallIndex): string | undefined {
  if (message.toolCallId !== undefined) return index.runOfToolCall.get(message.toolCallId);
  const id = message.role === "reasoning" ? message.id.replace(/\/reasoning$/, "") : message.id;
  return index.runOfMessage.get(id);
}

function placeRun(segments: Segment[], run: CallView, order: ReadonlyMap<string, number>): void {
  const place = order.get(run.runId) ?? 0;
  const placeOf = ({ runId }: Segment) => (runId === undefined ? undefined : order.get(runId));
  const from =
    segments.findLastIndex((segment) => (placeOf(segment) ?? Number.POSITIVE_INFINITY) < place) + 1;
  const later = segments.findIndex((segment, at) => at >= from && (placeOf(segment) ?? -1) > place);
  const to = later < 0 ? segments.length : later;
  const isClients = run.startedBy === undefined || run.startedBy.kind === "client";
  const unanswered = segments
    .slice(from, to)
    .find(
      (segment) =>
        isClients &&
        segment.runId === undefined &&
        segment.userId !== undefined &&
        !segment.isLocal &&
        isNear(segment.userId, run.startedAt),
    );
  if (unanswered) {
    unanswered.runId = run.runId;
    return;
  }
  // What only this page knows of stays behind everything that has happened.
  const local = segments.findIndex((segment, at) => at >= from && segment.isLocal);
  const at = local >= 0 && local < to ? local : to;
  segments.splice(at, 0, { runId: run.runId, userId: undefined, isLocal: false, messageIds: [] });
}

/** Ids of our own clients tell when they were made (UUID version 7); any other may belong to any run. */
function isNear(messageId: string, startedAt: number): boolean {
  const made = /^([0-9a-f]{8})-([0-9a-f]{4})-7/.exec(messageId);
  if (!made) return true;
  return Math.abs(Number.parseInt(`${made[1]}${made[2]}`, 16) / 1_000 - startedAt) < NEAR_S;
}

export function isSameTurn(a: Turn, b: Turn): boolean {
  return (
    a.key === b.key &&
    a.runId === b.runId &&
    a.userId === b.userId &&
    a.isAnswer === b.isAnswer &&
    a.messageIds.length === b.messageIds.length &&
    a.messageIds.every((id, at) => id === b.messageIds[at])
  );
}
