import {
  type AgentEvent,
  type Authority,
  currentMessages,
  emptyProjection,
  type Projection,
  project,
  type ThreadView,
  type WireMessage,
} from "@throughline/agent-client";
import type { Envelope } from "@throughline/ai-core";
import { envelopeEvents, newTellerMemory, type TellerMemory } from "./envelope-events";

/** A run as the log has it, and the state it began with. */
export interface RunRecording {
  readonly envelopes: readonly Envelope[];
  readonly stateBefore: readonly AgentEvent[];
}

export interface Replay {
  /** What a page would have shown of the run after so many of its entries. */
  viewAt(count: number): ThreadView;
}

export function recordRun(log: Iterable<Envelope>, runId: string): RunRecording {
  const envelopes: Envelope[] = [];
  let stateBefore: AgentEvent[] = [];
  for (const envelope of log) {
    if (envelope.run_id === runId) envelopes.push(envelope);
    else if (envelopes.length > 0) continue;
    else if (envelope.type === "state_delta") {
      stateBefore.push({ type: "STATE_DELTA", delta: envelope.payload.ops });
    } else if (envelope.type === "state_snapshot" && envelope.payload.state) {
      stateBefore = [{ type: "STATE_SNAPSHOT", snapshot: envelope.payload.state }];
    }
  }
  return { envelopes, stateBefore };
}

interface Told {
  readonly projection: Projection;
  readonly memory: TellerMemory;
  readonly count: number;
}

/** Forward costs what is new; back begins again from the start. */
export function createReplay({ envelopes, stateBefore }: RunRecording): Replay {
  const start = (): Told => ({
    projection: stateBefore.reduce(tell, emptyProjection),
    memory: newTellerMemory(),
    count: 0,
  });
  let told = start();
  return {
    viewAt(count) {
      if (count < told.count) told = start();
      let { projection } = told;
      for (const envelope of envelopes.slice(told.count, count)) {
        projection = envelopeEvents(told.memory, envelope).reduce(tell, projection);
        if (envelope.type === "retract") projection = without(projection, envelope.payload.message_ids);
      }
      told = { ...told, projection, count: Math.min(count, envelopes.length) };
      return projection.view;
    },
  };
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

/** What a crashed attempt showed and never committed. */
function without(now: Projection, ids: readonly string[]): Projection {
  const messages = currentMessages(now.view)
    .filter(({ id }) => !ids.includes(id.replace(/\/reasoning$/, "")))
    .map(
      ({ toolCalls, local: _local, failed: _failed, ...message }): WireMessage => ({
        ...message,
        ...(toolCalls && {
          toolCalls: toolCalls.map(({ id, name, args }) => ({ id, function: { name, arguments: args } })),
        }),
      }),
    );
  return tell(now, { type: "MESSAGES_SNAPSHOT", messages });
}
