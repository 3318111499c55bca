import { openViewer, type Viewer } from "../../e2e/outages/rig/viewer.js";
import type { SseEvent } from "../../packages/langgraph-server/src/testing/sse-events.js";
import { marksIn } from "../check/check-history.js";
import type { Frame, View, ViewerHistory } from "../check/history.js";
import type { ViewerPlan } from "../plan/work-plan.js";
import type { RequestOptions, Requests } from "./chaos-http.js";

export interface ThreadName {
  readonly agent: string;
  readonly threadId: string;
}

/** A reader that stays with a thread over all cuts, until it is told to leave. */
export interface ThreadViewer {
  readonly view: View;
  /** The last entry that it was told in whole or in part; 0 for none. */
  reached(): number;
  reconnects(): number;
  /** `leftAt`: the log's last entry, which it has. */
  leave(leftAt?: number): void;
  history(): ViewerHistory;
}

export function openStreamOf(
  requests: Requests,
  { agent, threadId }: ThreadName,
  view: View,
  { follow, ...options }: RequestOptions & { readonly follow: boolean },
): Promise<Response> {
  if (view === "envelopes")
    return requests.get(`/agents/${agent}/threads/${threadId}/events?follow=${follow}`, options);
  const body = { threadId, ...(follow && { forwardedProps: { throughline: { follow } } }) };
  return requests.post(`/api/copilotkit/agent/${agent}/connect`, body, options);
}

export function watchThread(
  requests: Requests,
  thread: ThreadName,
  { view, chunkMs, name }: ViewerPlan & { readonly name: string },
): ThreadViewer {
  let leftAt: number | undefined;
  const viewer: Viewer = openViewer({
    isLast: () => false,
    open: (cursor, signal) => openStreamOf(requests, thread, view, { follow: true, cursor, signal, chunkMs }),
  });
  return {
    view,
    reached() {
      const last = viewer.connections.flat().findLast(({ id }) => id !== undefined);
      return last ? toFrame(last).seq : 0;
    },
    reconnects: viewer.reconnects,
    leave(at) {
      leftAt = at;
      viewer.leave();
    },
    history: () => ({
      name: `${name} (${view}${chunkMs > 0 ? ", slow" : ""})`,
      view,
      connections: viewer.connections.map(toFrames),
      leftAt,
    }),
  };
}

export function toFrames(events: readonly SseEvent[]): readonly Frame[] {
  return events.filter(({ id }) => id !== undefined).map(toFrame);
}

function toFrame({ id = "", data }: SseEvent): Frame {
  const [epoch = "", seq, n = "0"] = id.split(".");
  // Whether an entry was live is the reader's to know, not the log's.
  const { origin: _, ...content } = data;
  const text = JSON.stringify(sorted(content));
  return { epoch, seq: Number(seq), n: Number(n), text, marks: marksIn(text) };
}

/** Keys in one order: what came over the bus and what was read from the database differ in nothing else. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, each]) => [key, sorted(each)]),
  );
}
