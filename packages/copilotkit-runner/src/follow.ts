import { type JsonObject, type LogEntry, type LogPosition, ThroughlineError } from "@throughline/ai-core";
import { type Batch, readProjection, type ThreadLog, type ThreadRef } from "@throughline/thread-log";
import {
  applyEntries,
  type Conversation,
  conversationCodec,
  emptyConversation,
  eventOf,
} from "./conversation/conversation.js";
import { type AgUiEvent, isObject, isTerminal } from "./events.js";

/** An event, and the position of the log after it. */
export interface EmittedEvent {
  readonly event: AgUiEvent;
  readonly position: LogPosition | undefined;
}

export interface FollowRequest {
  readonly log: ThreadLog;
  readonly thread: ThreadRef;
  /** The client's own id of the thread. */
  readonly threadId: string;
  /** The position up to which the client has read. */
  readonly after: LogPosition | undefined;
  /** The run that is open in the registry, though the log may not have its first entry yet. */
  readonly active: string | undefined;
  readonly signal: AbortSignal;
}

/** Emits the events for a client that connects: those that bring it up to date, and all new ones until no run is open. */
export async function* followConversation(request: FollowRequest): AsyncGenerator<EmittedEvent, void> {
  const { log, thread, threadId, after, active, signal } = request;
  const resumed = after && (await readConversationAt(log, thread, after));
  const from =
    after && resumed ? { conversation: resumed, position: after } : await readConversation(log, thread);
  if (signal.aborted) return;
  const prelude = resumed ? resumePrelude(threadId, resumed) : snapshotEvents(threadId, from.conversation);
  yield* atEnd(prelude, from.position);
  const isAwaited = active !== undefined && (await log.terminal(thread, active)) === undefined;
  // Read last: the run may have begun and ended since the conversation was read.
  const head = await log.head(thread);
  yield* readOn(request, from, { head, awaited: isAwaited ? active : undefined });
}

/** Emits the events after a position until no run is open. */
async function* readOn(
  request: FollowRequest,
  { conversation, position }: ConversationAt,
  { head, awaited }: { readonly head: LogPosition | undefined; readonly awaited: string | undefined },
): AsyncGenerator<EmittedEvent, void> {
  // The end of the stream depends on these two alone: the client itself applies messages and state.
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
  /** The head of the log before the run. */
  readonly after: LogPosition | undefined;
}

/** Emits the events of one run, from its first to its last. */
export async function* followRun(request: FollowRunRequest): AsyncGenerator<EmittedEvent, void> {
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

function* eventsOf(entries: readonly LogEntry[]): Generator<EmittedEvent, void> {
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

/** Gives only the last event of a prelude the position: a client that leaves before it has to begin again. */
function* atEnd(
  events: readonly AgUiEvent[],
  position: LogPosition | undefined,
): Generator<EmittedEvent, void> {
  for (const [index, event] of events.entries()) {
    yield { event, position: index === events.length - 1 ? position : undefined };
  }
}

interface ConversationAt {
  readonly conversation: Conversation;
  /** `undefined` when the thread does not exist. */
  readonly position: LogPosition | undefined;
}

/** Reads a thread's current conversation. A deleted thread is empty. */
export async function readConversation(log: ThreadLog, thread: ThreadRef): Promise<ConversationAt> {
  const read = await readProjection(log, conversationCodec, thread);
  if (read.kind === "folded") return { conversation: read.state, position: read.position };
  // The log stores a snapshot before it trims, so only a snapshot of another version leads here.
  return { conversation: emptyConversation, position: read.kind === "gap" ? read.head : undefined };
}

const ENTRIES_PER_READ = 1_000;

/** Reads a thread's conversation at an earlier position; `undefined` when the log no longer has it. */
async function readConversationAt(
  log: ThreadLog,
  thread: ThreadRef,
  at: LogPosition,
): Promise<Conversation | undefined> {
  const snapshot = await log.snapshot(thread, conversationCodec.reads, at.seq);
  const usable = snapshot?.position.epoch === at.epoch ? snapshot : undefined;
  let conversation =
    (usable && conversationCodec.decode(usable.state, usable.foldVersion)) ?? emptyConversation;
  let position = usable?.position;
  while ((position?.seq ?? 0) < at.seq) {
    const limit = Math.min(ENTRIES_PER_READ, at.seq - (position?.seq ?? 0));
    const read = await log.read(thread, position, limit);
    const last = read.kind === "entries" ? read.entries.at(-1) : undefined;
    // An entry of another epoch, or merged with later ones: then the position is not in this log.
    if (read.kind !== "entries" || last?.epoch !== at.epoch || last.seq > at.seq) return undefined;
    conversation = applyEntries(conversation, read.entries);
    position = { epoch: last.epoch, seq: last.seq };
  }
  return conversation;
}

/**
 * Encodes a conversation for a client that may have any part of it: snapshots, which replace, and the START of open items. No
 * event that adds to a message is repeated, so nothing is duplicated, however often a client connects. On an idle thread it
 * ends the run that it opened.
 */
export function snapshotEvents(threadId: string, conversation: Conversation): AgUiEvent[] {
  const { run, state, messages, open, questions } = conversation;
  if (!run) return [];
  const snapshot: AgUiEvent[] = [
    runStarted(threadId, run.runId),
    { type: "STATE_SNAPSHOT", snapshot: state },
    { type: "MESSAGES_SNAPSHOT", messages: [...messages] },
  ];
  if (run.open) return [...snapshot, ...withoutMetadata(open), ...questions];
  return [
    ...snapshot,
    ...(run.terminal?.type === "RUN_FINISHED" ? questions : []),
    idleRunEnd(threadId, conversation),
  ];
}

/** The events for a client that has everything up to here: only those it needs in order to accept the next ones. */
export function resumePrelude(threadId: string, { run, open }: Conversation): AgUiEvent[] {
  return run?.open ? [runStarted(threadId, run.runId), ...withoutMetadata(open)] : [];
}

export function runStarted(threadId: string, runId: string): AgUiEvent {
  return { type: "RUN_STARTED", threadId, runId };
}

/**
 * The event that ends the snapshot of an idle thread. A client would take a RUN_ERROR for the failure of its own request, so
 * the failure of the last run is in metadata.
 */
function idleRunEnd(threadId: string, { run }: Conversation): AgUiEvent {
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

/** Removes the metadata from START events: the snapshot includes it already. */
function withoutMetadata(events: readonly AgUiEvent[]): AgUiEvent[] {
  return events.map(({ metadata: _, ...event }) => ({ ...event, type: event.type }));
}

const PATTERN = /^([A-Za-z0-9_-]{1,64})\.(\d{1,15})$/;

export function encodeCursor({ epoch, seq }: LogPosition): string {
  return `${epoch}.${seq}`;
}

/** Parses a cursor; `undefined` for a text that is none of ours: its sender gets snapshots. */
function parseCursor(text: string): LogPosition | undefined {
  const [, epoch, seq] = PATTERN.exec(text) ?? [];
  return epoch === undefined || seq === undefined ? undefined : { epoch, seq: Number(seq) };
}

/** CopilotKit's runtime forwards `x-` headers; `Last-Event-ID` itself only where its `forwardHeaders` allows it. */
const HEADERS = ["last-event-id", "x-last-event-id"];

/** The position up to which a connecting client has read. */
export function cursorOf(headers: Readonly<Record<string, string>> | undefined): LogPosition | undefined {
  const sent = Object.entries(headers ?? {}).find(([name]) => HEADERS.includes(name.toLowerCase()));
  return sent && parseCursor(sent[1]);
}
