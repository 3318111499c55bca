import {
  type AgentEvent,
  type Authority,
  emptyProjection,
  type Projection,
  project,
  type ThreadView,
} from "@throughline/agent-client";
import type { Envelope, JsonObject } from "@throughline/ai-core";
import {
  applyEntry,
  applyEnvelope,
  createAgUiEncoder,
  emptyThreadProjection,
  type ThreadProjection,
} from "@throughline/reading";

/** A run's entries of the log, and the state that it began with. */
export interface RunRecording {
  readonly envelopes: readonly Envelope[];
  readonly stateBefore: JsonObject;
}

export interface Replay {
  /** Returns the view that a page would have shown after this many of the run's entries. */
  viewAt(count: number): ThreadView;
}

export function recordRun(log: Iterable<Envelope>, runId: string): RunRecording {
  const envelopes: Envelope[] = [];
  let before = emptyThreadProjection;
  for (const envelope of log) {
    if (envelope.run_id === runId) envelopes.push(withoutConversation(envelope));
    else if (envelopes.length === 0 && isAboutState(envelope)) {
      before = applyEnvelope(before, withoutConversation(envelope));
    }
  }
  return { envelopes, stateBefore: before.state };
}

function isAboutState({ type }: Envelope): boolean {
  return type === "state_delta" || type === "state_snapshot";
}

/**
 * Strips the checkpoint's messages from an envelope. At a run's end they are the whole thread's and lack the last text of a run
 * that was stopped, while a replay shows one run as it was displayed.
 */
function withoutConversation(envelope: Envelope): Envelope {
  if (envelope.type === "retract" && envelope.payload.reason === "not_committed")
    return { ...envelope, payload: { ...envelope.payload, message_ids: [] } };
  if (envelope.type !== "state_snapshot") return envelope;
  const { messages: _, changed_messages, ...payload } = envelope.payload;
  const isOfRun = changed_messages && payload.checkpoint_id === undefined;
  return { ...envelope, payload: { ...payload, ...(isOfRun && { changed_messages }) } };
}

interface ReplayState {
  readonly clientState: Projection;
  readonly threadState: ThreadProjection;
  readonly count: number;
}

/** The encoder that the service uses for the console's own pages. */
const encoder = createAgUiEncoder({ threadName: "replay", line: "1.0", interrupts: "standard", calls: true });

/** Creates a replay. A step forward costs the new entries only; a step back restarts from the beginning. */
export function createReplay({ envelopes, stateBefore }: RunRecording): Replay {
  const beginning = begin(stateBefore, envelopes[0]);
  let current = beginning;
  return {
    viewAt(count) {
      if (count < current.count) current = beginning;
      let { clientState, threadState } = current;
      for (let at = current.count; at < Math.min(count, envelopes.length); at += 1) {
        const envelope = envelopes[at];
        if (!envelope) break;
        const entry = { epoch: "replay", seq: at + 1, envelope };
        clientState = wireEvents(encoder.frames(threadState, entry)).reduce(applyEvent, clientState);
        threadState = applyEntry(threadState, entry);
      }
      current = { clientState, threadState, count: Math.min(count, envelopes.length) };
      return clientState.view;
    },
  };
}

/** Initial state. Where the run's beginning was trimmed, its first stored entry belongs to an open run. */
function begin(state: JsonObject, first: Envelope | undefined): ReplayState {
  const threadState = { ...emptyThreadProjection, state };
  if (!first || first.type === "run_start") {
    const clientState = applyEvent(emptyProjection, { type: "STATE_SNAPSHOT", snapshot: state });
    return { clientState, threadState, count: 0 };
  }
  const { run_id, attempt } = first;
  const open = { ...threadState, run: { run_id, client_run_id: null, attempt, open: true, status: null } };
  const prelude = wireEvents(encoder.fullSnapshot(open, undefined));
  return { clientState: prelude.reduce(applyEvent, emptyProjection), threadState: open, count: 0 };
}

/** Casts frames to the client's type, which describes the same JSON as parsed from the wire. */
function wireEvents(frames: ReturnType<typeof encoder.frames>): readonly AgentEvent[] {
  return frames.map(({ event }) => event as unknown as AgentEvent);
}

/** Applies an event. Skips one that does not fit because the log no longer has the entries that it builds on. */
function applyEvent(now: Projection, event: AgentEvent): Projection {
  const [mine, authority] = owned(now);
  const [next, effects] = project(mine, { kind: "frames", authority, frames: [{ event }] });
  return effects.some(({ kind }) => kind === "misfit") ? mine : next;
}

function owned(now: Projection): [mine: Projection, authority: Authority] {
  if (now.authority) return [now, now.authority];
  const [next] = project(now, { kind: "claim", source: "detail-connect" });
  return next.authority ? [next, next.authority] : [next, { source: "detail-connect", epoch: next.epoch }];
}
