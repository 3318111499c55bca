"use client";

import type { CallView, ThreadMessage } from "@throughline/agent-client";
import { type CallsByRun, type StableThread, useStableThread } from "./stable-thread";

/** A run, or a message that will start one, with its messages. */
export interface Turn {
  readonly key: string;
  readonly runId: string | undefined;
  /** The person's message that started it; a run of a schedule has none. */
  readonly userId: string | undefined;
  readonly messageIds: readonly string[];
  /** Started by a response to an interrupt of the run before it. */
  readonly isResponse: boolean;
}

interface Segment {
  readonly runId: string | undefined;
  readonly userId: string | undefined;
  readonly isLocal: boolean;
  readonly messageIds: string[];
}

const SERVICE_RUN = "throughline:";

/** Groups messages into turns, by author and run. A run without messages (a command) is inserted at its start. */
export function turnsOf(messages: readonly ThreadMessage[], byRun: CallsByRun): readonly Turn[] {
  const segments = segmentsOf(messages);
  const listed = new Set(segments.map(({ runId }) => runId));
  const order = new Map([...byRun.keys()].map((runId, at) => [runId, at]));
  for (const [runId, calls] of byRun) {
    if (listed.has(runId) || runId.startsWith(SERVICE_RUN)) continue;
    const run = runIn(calls);
    if (!run || isBookkeeping(run, calls)) continue;
    insertRun(segments, run, order);
  }
  // Several turns may belong to one run, as after two messages of a person: its work and end are shown once, in the last turn.
  const lastOf = new Map(segments.map(({ runId }, at) => [runId, at]));
  return segments.map(({ userId, messageIds, ...segment }, at) => {
    const runId = lastOf.get(segment.runId) === at ? segment.runId : undefined;
    return {
      key: userId ?? runId ?? messageIds[0] ?? "turn",
      runId,
      userId,
      messageIds,
      isResponse: userId === undefined && isWaiting(segments[at - 1], byRun),
    };
  });
}

/** Whether a run only synchronized the thread with the state of the graph, as after a fork, without any work. */
function isBookkeeping(run: CallView, calls: readonly CallView[]): boolean {
  const hasEnded = run.status === "ok" || run.status === "interrupted";
  return run.startedBy?.kind === "foreign" && hasEnded && calls.length === 1;
}

function segmentsOf(messages: readonly ThreadMessage[]): Segment[] {
  const segments: Segment[] = [];
  const asked = new Set(messages.flatMap(({ toolCalls }) => toolCalls?.map(({ id }) => id) ?? []));
  for (const message of messages) {
    if (!isShown(message, asked)) continue;
    const { id, runId } = message;
    const isLocal = message.local !== undefined;
    const current = segments.at(-1);
    if (message.role === "user") segments.push({ runId, userId: id, isLocal, messageIds: [] });
    else if (current && current.runId === runId) current.messageIds.push(id);
    else segments.push({ runId, userId: undefined, isLocal, messageIds: [id] });
  }
  return segments;
}

function isWaiting(segment: Segment | undefined, byRun: CallsByRun): boolean {
  return segment?.runId !== undefined && runIn(byRun.get(segment.runId))?.status === "interrupted";
}

function runIn(calls: readonly CallView[] | undefined): CallView | undefined {
  return calls?.find(({ kind }) => kind === "run");
}

function isShown(message: ThreadMessage, asked: ReadonlySet<string>): boolean {
  if (message.subagentRunId !== undefined) return false;
  if (message.role === "system" || message.role === "developer") return false;
  // A result shows where its call does.
  return message.role !== "tool" || message.toolCallId === undefined || !asked.has(message.toolCallId);
}

/** Inserts a run without messages in order. Local messages, which only this page has, stay after everything that has happened. */
function insertRun(segments: Segment[], run: CallView, order: ReadonlyMap<string, number>): void {
  const positionOf = ({ runId }: Segment) => (runId === undefined ? -1 : (order.get(runId) ?? -1));
  const position = order.get(run.runId) ?? 0;
  const later = segments.findIndex((segment) => segment.isLocal || positionOf(segment) > position);
  const at = later < 0 ? segments.length : later;
  segments.splice(at, 0, { runId: run.runId, userId: undefined, isLocal: false, messageIds: [] });
}

function isSameTurn(a: Turn, b: Turn): boolean {
  return (
    a.key === b.key &&
    a.runId === b.runId &&
    a.userId === b.userId &&
    a.isResponse === b.isResponse &&
    a.messageIds.length === b.messageIds.length &&
    a.messageIds.every((id, at) => id === b.messageIds[at])
  );
}

/** The turns of the thread. Rerenders when a message or a run is added or removed, never with a token. */
export function useTurns(): readonly Turn[] {
  return useStableThread(select, isSame);
}

let last: { messages: unknown; byRun: unknown; turns: readonly Turn[] } | undefined;

/** Computes the turns once per pair of lists; unchanged turns retain their identity. */
function select({ messages, byRun }: StableThread): readonly Turn[] {
  if (last?.messages === messages && last.byRun === byRun) return last.turns;
  const known = new Map(last?.turns.map((turn) => [turn.key, turn]));
  const turns = turnsOf(messages, byRun).map((turn) => {
    const before = known.get(turn.key);
    return before && isSameTurn(before, turn) ? before : turn;
  });
  last = { messages, byRun, turns };
  return turns;
}

function isSame(a: readonly Turn[], b: readonly Turn[]): boolean {
  return a.length === b.length && a.every((turn, at) => turn === b[at]);
}
