"use client";

import type { CallView, MessageView } from "@throughline/agent-client";
import { type CallsByRun, type SettledThread, useSettledThread } from "./stable-thread";

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
  readonly runId: string | undefined;
  readonly userId: string | undefined;
  readonly isLocal: boolean;
  readonly messageIds: string[];
}

const SERVICE_RUN = "throughline:";

/** What was said, parted by who spoke and in which run. A run that said nothing (a command) stands where it began. */
export function turnsOf(messages: readonly MessageView[], byRun: CallsByRun): readonly Turn[] {
  const segments = segmentsOf(messages);
  const placed = new Set(segments.map(({ runId }) => runId));
  const order = new Map([...byRun.keys()].map((runId, at) => [runId, at]));
  for (const [runId, calls] of byRun) {
    if (placed.has(runId) || runId.startsWith(SERVICE_RUN)) continue;
    const run = runIn(calls);
    if (!run || isBookkeeping(run, calls)) continue;
    placeRun(segments, run, order);
  }
  // Several turns may be of one run, as when a person said two things to it: how it went stands once, behind them all.
  const lastOf = new Map(segments.map(({ runId }, at) => [runId, at]));
  return segments.map(({ userId, messageIds, ...segment }, at) => {
    const runId = lastOf.get(segment.runId) === at ? segment.runId : undefined;
    return {
      key: userId ?? runId ?? messageIds[0] ?? "turn",
      runId,
      userId,
      messageIds,
      isAnswer: userId === undefined && isWaiting(segments[at - 1], byRun),
    };
  });
}

/** Nobody did anything: the thread was brought up to what the graph holds, as after a fork. */
function isBookkeeping(run: CallView, calls: readonly CallView[]): boolean {
  const hasEnded = run.status === "ok" || run.status === "interrupted";
  return run.startedBy?.kind === "foreign" && hasEnded && calls.length === 1;
}

function segmentsOf(messages: readonly MessageView[]): Segment[] {
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

function isShown(message: MessageView, asked: ReadonlySet<string>): boolean {
  if (message.subagentRunId !== undefined) return false;
  if (message.role === "system" || message.role === "developer") return false;
  // A result shows where its call does.
  return message.role !== "tool" || message.toolCallId === undefined || !asked.has(message.toolCallId);
}

/** What only this page knows of stays behind everything that has happened. */
function placeRun(segments: Segment[], run: CallView, order: ReadonlyMap<string, number>): void {
  const placeOf = ({ runId }: Segment) => (runId === undefined ? -1 : (order.get(runId) ?? -1));
  const place = order.get(run.runId) ?? 0;
  const later = segments.findIndex((segment) => segment.isLocal || placeOf(segment) > place);
  const at = later < 0 ? segments.length : later;
  segments.splice(at, 0, { runId: run.runId, userId: undefined, isLocal: false, messageIds: [] });
}

function isSameTurn(a: Turn, b: Turn): boolean {
  return (
    a.key === b.key &&
    a.runId === b.runId &&
    a.userId === b.userId &&
    a.isAnswer === b.isAnswer &&
    a.messageIds.length === b.messageIds.length &&
    a.messageIds.every((id, at) => id === b.messageIds[at])
  );
}

/** What was said, run by run. Renders when a message or a run comes or goes, never with a token. */
export function useTurns(): readonly Turn[] {
  return useSettledThread(select, isSame);
}

let last: { messages: unknown; byRun: unknown; turns: readonly Turn[] } | undefined;

/** The same lists give the same turns without another pass. */
function select({ messages, byRun }: SettledThread): readonly Turn[] {
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
