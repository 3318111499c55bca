import type { EnvelopeBase, LogEntry } from "@throughline/ai-core";
import type { ThreadFold } from "@throughline/reading";
import type { RunRecord } from "@throughline/thread-log";
import { clientRunIdOf } from "../thread/run-alias.js";
import type { SseFrame } from "./sse-frame.js";
import type { WireFace } from "./wire-face.js";

/** R25: a run that was stopped before it began is in no log. The client that asked for it is told of a run that began and ended. */
export function neverRanFrames(face: WireFace, fold: ThreadFold, run: RunRecord, nowMs: number): SseFrame[] {
  const base: EnvelopeBase = {
    ts: nowMs / 1_000,
    trace_id: run.runId,
    run_id: run.runId,
    thread_id: run.thread.threadId,
    attempt: run.attempt,
    parent_id: null,
    call_id: run.runId,
    seq: 1,
    origin: "live",
    agent: run.graphId,
  };
  const { kind, id } = run.origin;
  const start: LogEntry = {
    epoch: "none",
    seq: 0,
    envelope: {
      ...base,
      type: "run_start",
      payload: {
        graph_id: run.graphId,
        ...(run.alias !== undefined && { client_run_id: clientRunIdOf(run.alias) }),
        input: { messages: [] },
        answers: [],
        started_by: { kind, ...(id !== undefined && { id }) },
      },
    },
  };
  const end: LogEntry = {
    epoch: "none",
    seq: 0,
    envelope: { ...base, seq: 2, type: "run_end", payload: { status: "cancelled" } },
  };
  // Another run may be open: it is none of this reader's.
  const idle: ThreadFold = { ...fold, run: null, openSteps: [], openMessages: [], openSubagents: [] };
  const started: ThreadFold = {
    ...idle,
    run: {
      run_id: run.runId,
      client_run_id: run.alias === undefined ? null : clientRunIdOf(run.alias),
      attempt: 0,
      open: true,
      status: null,
    },
  };
  const frames = [...face.frames(idle, start, "live"), ...face.frames(started, end, "live")];
  // No position of the log stands behind them, so no client can come back to one.
  return frames.map(({ id: _, ...frame }) => frame);
}
