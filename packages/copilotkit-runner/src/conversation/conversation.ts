import type {
  Clock,
  Envelope,
  EnvelopeBase,
  Json,
  LogEntry,
  PayloadOf,
  ProjectionCodec,
} from "@throughline/ai-core";
import {
  type AgUiEvent,
  type AgUiMessage,
  isEvent,
  isObject,
  isTerminal,
  textOf,
  trackOpen,
} from "../events.js";
import { applyToMessages } from "./apply-messages.js";
import { applyDelta } from "./patched.js";

export interface ConversationRun {
  /** The client's id of the run, which its events carry. */
  readonly runId: string;
  readonly open: boolean;
  /** The event that ended it. */
  readonly terminal: AgUiEvent | null;
}

/** The projection of a thread's events: the state of a client that applied them all, and all that another one needs. Plain JSON. */
export interface Conversation {
  /** The open run, or the last one. */
  readonly run: ConversationRun | null;
  readonly state: Json;
  readonly messages: readonly AgUiMessage[];
  /** START events without an END. */
  readonly open: readonly AgUiEvent[];
  /** `CUSTOM on_interrupt` events of the last run: its interrupts, in the form that preceded outcomes. */
  readonly questions: readonly AgUiEvent[];
}

export const emptyConversation: Conversation = {
  run: null,
  state: {},
  messages: [],
  open: [],
  questions: [],
};

/** Differs from all versions of the service's projection, whose snapshots have another form. */
const PROJECTION_VERSION = 1_001;

export function applyEntries(conversation: Conversation, entries: readonly LogEntry[]): Conversation {
  return entries.reduce((so, entry) => {
    const event = eventOf(entry);
    return event ? applyEvent(so, event) : so;
  }, conversation);
}

/** The codec of the log's snapshots: a thread of any length is read from one of them and the entries since. */
export const conversationCodec: ProjectionCodec<Conversation> = {
  version: PROJECTION_VERSION,
  reads: [PROJECTION_VERSION],
  empty: emptyConversation,
  apply: applyEntries,
  encode: (conversation) => ({
    run: conversation.run && { ...conversation.run },
    state: conversation.state,
    messages: [...conversation.messages],
    open: [...conversation.open],
    questions: [...conversation.questions],
  }),
  decode: (snapshot, version) =>
    version === PROJECTION_VERSION && isSnapshot(snapshot) ? snapshot : undefined,
};

/** Recognizes a snapshot. `encode` of the same version wrote it, so its fields are not validated. */
function isSnapshot(snapshot: Json): snapshot is Json & Conversation {
  return isObject(snapshot) && Array.isArray(snapshot.messages) && Array.isArray(snapshot.open);
}

/** Applies one event to a conversation. Pure; O(messages), which is a copy of a list. */
export function applyEvent(conversation: Conversation, event: AgUiEvent): Conversation {
  const messages = applyToMessages(conversation.messages, event);
  const open = trackOpen(conversation.open, event);
  const next = { ...conversation, messages, open };
  switch (event.type) {
    case "RUN_STARTED":
      return {
        ...next,
        run: { runId: textOf(event.runId) ?? "", open: true, terminal: null },
        questions: [],
      };
    case "STATE_SNAPSHOT":
      return { ...next, state: event.snapshot ?? null };
    case "STATE_DELTA":
      return { ...next, state: applyDelta(next.state, event.delta) ?? next.state };
    case "CUSTOM":
      return event.name === "on_interrupt" ? { ...next, questions: [...next.questions, event] } : next;
    default:
      // A run that was lost before it began ends nothing.
      return isTerminal(event) && next.run?.open
        ? { ...next, run: { ...next.run, open: false, terminal: event } }
        : next;
  }
}

/** Names the custom entries of the log that hold an AG-UI event as its agent emitted it. */
const AG_UI_ENTRY = "ag-ui";

export interface RunEnvelopesOptions {
  readonly clock: Clock;
  /** The log's own ids of thread and run. */
  readonly threadId: string;
  readonly runId: string;
  readonly attempt: number;
  readonly agentId: string;
}

/** Makes the entries of one run: its start, its events, its end. */
export interface RunEnvelopes {
  start(clientRunId: string): Envelope;
  event(event: AgUiEvent): Envelope;
  end(payload: PayloadOf<"run_end">): Envelope;
}

export function createRunEnvelopes(options: RunEnvelopesOptions): RunEnvelopes {
  const { clock, threadId, runId, attempt, agentId } = options;
  let seq = 0;

  function base(): EnvelopeBase {
    seq += 1;
    return {
      ts: clock.now() / 1_000,
      trace_id: runId,
      run_id: runId,
      thread_id: threadId,
      attempt,
      parent_id: null,
      call_id: runId,
      seq,
      origin: "live",
      agent: agentId,
    };
  }

  return {
    start: (clientRunId) => ({
      ...base(),
      type: "run_start",
      payload: {
        graph_id: agentId,
        client_run_id: clientRunId,
        // The input messages are in the run's RUN_STARTED event, in AG-UI's form.
        input: { messages: [] },
        answers: [],
        started_by: { kind: "client" },
      },
    }),
    event: (event) => ({ ...base(), type: "custom", payload: { name: AG_UI_ENTRY, value: event } }),
    end: (payload) => ({ ...base(), type: "run_end", payload }),
  };
}

/** The AG-UI event that an entry holds; the entries around a run hold none. */
export function eventOf({ envelope }: LogEntry): AgUiEvent | undefined {
  if (envelope.type !== "custom" || envelope.payload.name !== AG_UI_ENTRY) return undefined;
  const { value } = envelope.payload;
  return isEvent(value) ? value : undefined;
}
