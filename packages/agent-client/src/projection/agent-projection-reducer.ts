import type { AgentEvent, AgUiFrame } from "../wire/agent-event.js";
import { appendMessage, replaceMessage, withMessages } from "./message-list.js";
import { reduceEvent } from "./reduce-event.js";
import {
  emptyThreadView,
  messageById,
  type ThreadMessage,
  type ThreadRun,
  type ThreadView,
} from "./thread-view.js";

/** The last received frames, so that a duplicate counts once. O(1) per frame, for any number of remembered ones. */
interface RecentFrames {
  /** By cursor, in order of arrival. Shared with later values: this one ignores positions from `count` on. */
  readonly positions: ReadonlyMap<string, number>;
  readonly count: number;
}

export const noRecentFrames: RecentFrames = { positions: new Map(), count: 0 };

const REMEMBERED = 64;

export function isSeen({ positions, count }: RecentFrames, id: string): boolean {
  const position = positions.get(id);
  return position !== undefined && position < count;
}

/** Adds a frame that is not among them. */
export function addSeen(seen: RecentFrames, id: string): RecentFrames {
  const { positions, count } = seen;
  // Only the newest value may add to the shared map; an older one that is used again copies it.
  const mayAdd = positions.size === count && count < 2 * REMEMBERED;
  const next = mayAdd ? (positions as Map<string, number>) : lastOf(seen);
  next.set(id, next.size);
  return { positions: next, count: next.size };
}

function lastOf({ positions, count }: RecentFrames): Map<string, number> {
  const last = [...positions.keys()].slice(0, count).slice(-REMEMBERED);
  return new Map(last.map((id, position) => [id, position]));
}

/**
 * The kind of stream that may write a thread's projection: the thread's own, or a poll. The ack of a command may not: it only
 * reports whether the run began, and a command without a page opens the thread's own stream while it is under way.
 */
export type Source = "detail-connect" | "poll";

/** One stream's right to write. A newer claim makes it stale, however late its last frames arrive. */
export interface Authority {
  readonly source: Source;
  readonly epoch: number;
}

export interface Projection {
  readonly view: ThreadView;
  readonly authority: Authority | undefined;
  readonly epoch: number;
  /** The cursor of the newest frame to reconnect from, if this projection holds all frames before it. */
  readonly cursor: string | undefined;
  readonly seen: RecentFrames;
}

export type ProjectionInput =
  /** A stream claims the right to write. A poll does not displace the thread's own stream. */
  | { readonly kind: "claim"; readonly source: Source }
  /** The stream is over. */
  | { readonly kind: "release"; readonly authority: Authority }
  | { readonly kind: "frames"; readonly authority: Authority; readonly frames: readonly AgUiFrame[] }
  /** Adds messages that the service has not confirmed. */
  | { readonly kind: "sending"; readonly messages: readonly ThreadMessage[] }
  /** The service refused them. */
  | { readonly kind: "unsent"; readonly messageIds: readonly string[] }
  /** Discards a message that was refused. */
  | { readonly kind: "discard"; readonly messageId: string }
  /** Adopts the view of another tab of this browser. */
  | { readonly kind: "adopt"; readonly view: ThreadView; readonly cursor: string | undefined };

export type ProjectionEffect =
  | { readonly kind: "granted"; readonly authority: Authority }
  /** Frames of a stream that is no longer the owner. */
  | { readonly kind: "stale"; readonly count: number }
  | { readonly kind: "duplicate"; readonly count: number }
  /** A run began or ended. One effect per run: with several in one batch, the last alone would hide the ends of the others. */
  | { readonly kind: "run"; readonly run: ThreadRun }
  /** The state acknowledges the last mutation that it applied. */
  | { readonly kind: "acknowledged"; readonly id: string }
  /** A frame did not fit: only a snapshot repairs that. The cursor is dropped. */
  | { readonly kind: "misfit"; readonly type: string };

export type ProjectionStep = readonly [next: Projection, effects: readonly ProjectionEffect[]];

export const emptyProjection: Projection = {
  view: emptyThreadView,
  authority: undefined,
  epoch: 0,
  cursor: undefined,
  seen: noRecentFrames,
};

/** Reduces one input. The view changes by no other path (docs/requirements.md#client-5). */
export function project(now: Projection, input: ProjectionInput): ProjectionStep {
  switch (input.kind) {
    case "claim":
      return claim(now, input.source);
    case "release":
      return isOwner(now, input.authority) ? [{ ...now, authority: undefined }, []] : [now, []];
    case "frames":
      return isOwner(now, input.authority)
        ? applyFrames(now, input.frames)
        : [now, [{ kind: "stale", count: input.frames.length }]];
    case "sending":
      return [{ ...now, view: input.messages.reduce(showOptimistic, now.view) }, []];
    case "unsent":
      return [{ ...now, view: input.messageIds.reduce(markUnsent, now.view) }, []];
    case "discard":
      return [{ ...now, view: discard(now.view, input.messageId) }, []];
    case "adopt":
      return [
        { ...now, view: input.view, cursor: input.cursor, seen: noRecentFrames },
        noteChanges(now.view, input.view, []),
      ];
  }
}

/** Grants the right to write. The newer stream of a kind wins: it was opened last. */
function claim(now: Projection, source: Source): ProjectionStep {
  if (source === "poll" && now.authority?.source === "detail-connect") return [now, []];
  const authority: Authority = { source, epoch: now.epoch + 1 };
  return [{ ...now, authority, epoch: authority.epoch }, [{ kind: "granted", authority }]];
}

function isOwner({ authority }: Projection, { epoch }: Authority): boolean {
  return authority?.epoch === epoch;
}

function applyFrames(now: Projection, frames: readonly AgUiFrame[]): ProjectionStep {
  let { view, cursor, seen } = now;
  let duplicates = 0;
  const effects: ProjectionEffect[] = [];
  for (const { id, event } of frames) {
    if (id !== undefined && isSeen(seen, id)) {
      duplicates += 1;
      continue;
    }
    const next = reduceEvent(view, event);
    if (next === undefined) {
      // Later frames would build on a wrong view.
      const lost = { ...now, view, cursor: undefined, authority: undefined };
      return [lost, [...effects, { kind: "misfit", type: event.type }]];
    }
    noteChanges(view, next, effects);
    view = next;
    if (id === undefined) {
      // In the middle of a snapshot, the view is neither the old one nor the new one. And the snapshot's last frame may be
      // one that was received before: the end of the same prelude.
      if (isSnapshot(event)) [cursor, seen] = [undefined, noRecentFrames];
      continue;
    }
    cursor = id;
    seen = addSeen(seen, id);
  }
  if (duplicates > 0) effects.push({ kind: "duplicate", count: duplicates });
  return [{ ...now, view, cursor, seen }, effects];
}

function noteChanges(
  before: ThreadView,
  after: ThreadView,
  effects: ProjectionEffect[],
): readonly ProjectionEffect[] {
  const id = after.state.lastAppliedClientMutationId;
  if (after.state !== before.state && typeof id === "string") effects.push({ kind: "acknowledged", id });
  if (after.run !== before.run && after.run) effects.push({ kind: "run", run: after.run });
  return effects;
}

function isSnapshot({ type }: AgentEvent): boolean {
  return type === "STATE_SNAPSHOT" || type === "MESSAGES_SNAPSHOT";
}

function showOptimistic(view: ThreadView, message: ThreadMessage): ThreadView {
  const known = messageById(view, message.id);
  const local: ThreadMessage = { ...message, local: "sending" };
  if (!known) return appendMessage(view, local);
  // Resent because the ack was lost: the service has the message, and will not confirm it twice.
  return known.local === undefined ? view : replaceMessage(view, local);
}

function markUnsent(view: ThreadView, id: string): ThreadView {
  const message = messageById(view, id);
  return message?.local === "sending" ? replaceMessage(view, { ...message, local: "unsent" }) : view;
}

function discard(view: ThreadView, id: string): ThreadView {
  if (messageById(view, id)?.local === undefined) return view;
  return withMessages(
    view,
    view.messages.filter((message) => message.id !== id),
  );
}
