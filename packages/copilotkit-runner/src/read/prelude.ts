import type { JsonObject } from "@throughline/ai-core";
import type { Conversation } from "../conversation/conversation.js";
import { type AgUiEvent, isObject } from "../events/ag-ui-event.js";

/**
 * A conversation for a client that may hold any part of it: snapshots, which replace, and the START of what is open. No event
 * that adds to a message is repeated, so nothing is doubled, however often a client connects. Where nothing runs, it ends the
 * run that it opened.
 */
export function fullPrelude(threadId: string, conversation: Conversation): AgUiEvent[] {
  const { run, state, messages, open, questions } = conversation;
  if (!run) return [];
  const told: AgUiEvent[] = [
    runStarted(threadId, run.runId),
    { type: "STATE_SNAPSHOT", snapshot: state },
    { type: "MESSAGES_SNAPSHOT", messages: [...messages] },
  ];
  if (run.open) return [...told, ...withoutMetadata(open), ...questions];
  return [
    ...told,
    ...(run.terminal?.type === "RUN_FINISHED" ? questions : []),
    standing(threadId, conversation),
  ];
}

/** For a client that holds everything up to here: only what a client needs in order to accept what follows. */
export function resumePrelude(threadId: string, { run, open }: Conversation): AgUiEvent[] {
  return run?.open ? [runStarted(threadId, run.runId), ...withoutMetadata(open)] : [];
}

export function runStarted(threadId: string, runId: string): AgUiEvent {
  return { type: "RUN_STARTED", threadId, runId };
}

/**
 * The end of what is told of a thread where nothing runs: how it stands. A client would take a RUN_ERROR for the failure of its
 * own request, so how the last run failed stands in metadata.
 */
function standing(threadId: string, { run }: Conversation): AgUiEvent {
  const finished: AgUiEvent = { type: "RUN_FINISHED", threadId, runId: run?.runId ?? "" };
  const terminal = run?.terminal;
  if (!terminal) return finished;
  if (terminal.type === "RUN_FINISHED") {
    const { outcome, metadata } = terminal;
    return {
      ...finished,
      ...(outcome !== undefined && { outcome }),
      ...(metadata !== undefined && { metadata }),
    };
  }
  const { message = "", code = null } = terminal;
  const lastRun: JsonObject = { status: "error", error: { message, code } };
  const given = isObject(terminal.metadata) ? terminal.metadata : {};
  return { ...finished, metadata: { ...given, throughline: { lastRun } } };
}

/** The snapshot has it already. */
function withoutMetadata(events: readonly AgUiEvent[]): AgUiEvent[] {
  return events.map(({ metadata: _, ...event }) => ({ ...event, type: event.type }));
}
