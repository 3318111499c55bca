import { type LogEntry, type LogPosition, ThroughlineError } from "@throughline/ai-core";
import type { Batch, ThreadLog, ThreadRef } from "@throughline/thread-log";
import { eventOf } from "../conversation/run-envelopes.js";
import { type AgUiEvent, isTerminal } from "../events/ag-ui-event.js";
import { fullPrelude, resumePrelude } from "./prelude.js";
import { type ConversationAt, readConversation, readConversationAt } from "./read-conversation.js";

/** An event, and the position of the log that it brings its reader to. */
export interface ToldEvent {
  readonly event: AgUiEvent;
  readonly position: LogPosition | undefined;
}

export interface FollowRequest {
  readonly log: ThreadLog;
  readonly thread: ThreadRef;
  /** What the client calls the thread. */
  readonly threadId: string;
  /** The position up to which the client has read. */
  readonly after: LogPosition | undefined;
  /** The run that the registry holds for open, though the log may not have its first entry yet. */
  readonly active: string | undefined;
  readonly signal: AbortSignal;
}

/** What a client that connects is told: how the thread stands, and what comes until no run is open. */
export async function* followConversation(request: FollowRequest): AsyncGenerator<ToldEvent, void> {
  const { log, thread, threadId, after, active, signal } = request;
  const resumed = after && (await readConversationAt(log, thread, after));
  const from =
    after && resumed ? { conversation: resumed, position: after } : await readConversation(log, thread);
  if (signal.aborted) return;
  const prelude = resumed ? resumePrelude(threadId, resumed) : fullPrelude(threadId, from.conversation);
  yield* atEnd(prelude, from.position);
  const isAwaited = active !== undefined && (await log.terminal(thread, active)) === undefined;
  // Read last: the run may have begun and ended since the conversation was read.
  const head = await log.head(thread);
  yield* readOn(request, from, { head, awaited: isAwaited ? active : undefined });
}

/** The events after a position until no run is open. */
async function* readOn(
  request: FollowRequest,
  { conversation, position }: ConversationAt,
  { head, awaited }: { readonly head: LogPosition | undefined; readonly awaited: string | undefined },
): AsyncGenerator<ToldEvent, void> {
  // All that a viewer's end depends on: messages and state are the client's to fold.
  let isOpen = conversation.run?.open ?? false;
  let isAwaited = awaited !== undefined;
  const isOver = (at: LogPosition | undefined, end: LogPosition | undefined) =>
    !isOpen && !isAwaited && (at?.seq ?? 0) >= (end?.seq ?? 0);
  if (isOver(position, head)) return;
  for await (const { entries, head: end } of readBatches(request, position)) {
    yield* eventsOf(entries);
    isOpen = entries.reduce(isOpenAfter, isOpen);
    isAwaited &&= !entries.some((entry) => isEndOf(entry, awaited));
    if (isOver(entries.at(-1), end)) return;
  }
}

export interface FollowRunRequest extends Pick<FollowRequest, "log" | "thread" | "signal"> {
  /** The log's own id of the run. */
  readonly runId: string;
  /** Where the log stood before the run. */
  readonly after: LogPosition | undefined;
}

/** The events of one run, from its first to its last. */
export async function* followRun(request: FollowRunRequest): AsyncGenerator<ToldEvent, void> {
  for await (const { entries } of readBatches(request, request.after)) {
    const own = entries.filter(({ envelope }) => envelope.run_id === request.runId);
    yield* eventsOf(own);
    if (own.some((entry) => isEndOf(entry, request.runId))) return;
  }
}

async function* readBatches(
  { log, thread, signal }: Pick<FollowRequest, "log" | "thread" | "signal">,
  after: LogPosition | undefined,
): AsyncGenerator<Batch, void> {
  for await (const tail of log.tail(thread, after, { signal })) {
    if (tail.kind === "deleted") throw new ThroughlineError("not_found", "The thread was deleted.");
    if (tail.kind === "gap") {
      throw new ThroughlineError("gap", "Part of what followed is no longer kept. Connect again.");
    }
    yield tail;
  }
}

function* eventsOf(entries: readonly LogEntry[]): Generator<ToldEvent, void> {
  for (const entry of entries) {
    const event = eventOf(entry);
    if (event) yield { event, position: entry };
  }
}

/** Whether a run is open after one more entry. */
function isOpenAfter(isOpen: boolean, entry: LogEntry): boolean {
  const event = eventOf(entry);
  if (event?.type === "RUN_STARTED") return true;
  return isOpen && !(event && isTerminal(event));
}

function isEndOf({ envelope }: LogEntry, runId: string | undefined): boolean {
  return envelope.type === "run_end" && envelope.run_id === runId;
}

/** Only the last event of a prelude brings its reader to the position: one who leaves before it has to begin again. */
function* atEnd(events: readonly AgUiEvent[], position: LogPosition | undefined): Generator<ToldEvent, void> {
  for (const [index, event] of events.entries()) {
    yield { event, position: index === events.length - 1 ? position : undefined };
  }
}
