import {
  type AgentEvent,
  type Authority,
  emptyProjection,
  type Projection,
  project,
  type ThreadView,
} from "@throughline/agent-client";
import type { Envelope, JsonObject } from "@throughline/ai-core";
import { applyEntry, applyEnvelope, createAgUiFace, emptyFold, type ThreadFold } from "@throughline/reading";

/** A run as the log has it, and the state it began with. */
export interface RunRecording {
  readonly envelopes: readonly Envelope[];
  readonly stateBefore: JsonObject;
}

export interface Replay {
  /** What a page would have shown of the run after so many of its entries. */
  viewAt(count: number): ThreadView;
}

export function recordRun(log: Iterable<Envelope>, runId: string): RunRecording {
  const envelopes: Envelope[] = [];
  let before = emptyFold;
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
 * The checkpoint's messages at a run's end are the whole thread's, and leave out the last words of a run that was stopped: a
 * replay is about one run, as it was shown.
 */
function withoutConversation(envelope: Envelope): Envelope {
  if (envelope.type === "retract" && envelope.payload.reason === "not_committed")
    return { ...envelope, payload: { ...envelope.payload, message_ids: [] } };
  if (envelope.type !== "state_snapshot") return envelope;
  const { messages: _, changed_messages, ...payload } = envelope.payload;
  const isOfRun = changed_messages && payload.checkpoint_id === undefined;
  return { ...envelope, payload: { ...payload, ...(isOfRun && { changed_messages }) } };
}

interface Told {
  readonly projection: Projection;
  readonly fold: ThreadFold;
  readonly count: number;
}

/** As the service tells the console's own pages. */
const face = createAgUiFace({ threadName: "replay", line: "1.0", interrupts: "standard", calls: true });

/** Forward costs what is new; back begins again from the start. */
export function createReplay({ envelopes, stateBefore }: RunRecording): Replay {
  const beginning = begin(stateBefore, envelopes[0]);
  let told = beginning;
  return {
    viewAt(count) {
      if (count < told.count) told = beginning;
      let { projection, fold } = told;
      for (let at = told.count; at < Math.min(count, envelopes.length); at += 1) {
        const envelope = envelopes[at];
        if (!envelope) break;
        const entry = { epoch: "replay", seq: at + 1, envelope };
        projection = wireEvents(face.frames(fold, entry)).reduce(tell, projection);
        fold = applyEntry(fold, entry);
      }
      told = { projection, fold, count: Math.min(count, envelopes.length) };
      return projection.view;
    },
  };
}

/** Of a run whose beginning is no longer kept, the first entry that is left belongs to a run that is open. */
function begin(state: JsonObject, first: Envelope | undefined): Told {
  const fold = { ...emptyFold, state };
  if (!first || first.type === "run_start") {
    return { projection: tell(emptyProjection, { type: "STATE_SNAPSHOT", snapshot: state }), fold, count: 0 };
  }
  const { run_id, attempt } = first;
  const open = { ...fold, run: { run_id, client_run_id: null, attempt, open: true, status: null } };
  const prelude = wireEvents(face.fullPrelude(open, undefined));
  return { projection: prelude.reduce(tell, emptyProjection), fold: open, count: 0 };
}

/** The client's type describes the same JSON, as parsed from the wire. */
function wireEvents(frames: ReturnType<typeof face.frames>): readonly AgentEvent[] {
  return frames.map(({ event }) => event as unknown as AgentEvent);
}

/** An event that does not fit, because the log no longer has what it builds on, is left out. */
function tell(now: Projection, event: AgentEvent): Projection {
  const [mine, authority] = owned(now);
  const [next, effects] = project(mine, { kind: "frames", authority, frames: [{ event }] });
  return effects.some(({ kind }) => kind === "misfit") ? mine : next;
}

function owned(now: Projection): [mine: Projection, authority: Authority] {
  if (now.authority) return [now, now.authority];
  const [next] = project(now, { kind: "claim", source: "detail-connect" });
  return next.authority ? [next, next.authority] : [next, { source: "detail-connect", epoch: next.epoch }];
}
