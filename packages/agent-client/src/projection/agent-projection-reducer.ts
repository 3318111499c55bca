import type { AgentEvent, AgentFrame } from "../wire/agent-event.js";
import { appendMessage, replaceMessage, withMessages } from "./message-list.js";
import { projectEvent } from "./reduce-event.js";
import { emptyView, type MessageView, messageById, type RunView, type ThreadView } from "./thread-view.js";

/** Which of the last frames came, so that one that comes twice counts once. O(1) a frame, however many are remembered. */
interface SeenFrames {
  /** By cursor, in the order they came. Shared with later values: a place from `count` on is nothing to this one. */
  readonly places: ReadonlyMap<string, number>;
  readonly count: number;
}

export const noneSeen: SeenFrames = { places: new Map(), count: 0 };

const REMEMBERED = 64;

export function isSeen({ places, count }: SeenFrames, id: string): boolean {
  const place = places.get(id);
  return place !== undefined && place < count;
}

/** One that was not seen yet. */
export function addSeen(seen: SeenFrames, id: string): SeenFrames {
  const { places, count } = seen;
  // The newest value alone may add to the shared map; one that was left and then taken up again makes its own.
  const mayAdd = places.size === count && count < 2 * REMEMBERED;
  const next = mayAdd ? (places as Map<string, number>) : lastOf(seen);
  next.set(id, next.size);
  return { places: next, count: next.size };
}

function lastOf({ places, count }: SeenFrames): Map<string, number> {
  const last = [...places.keys()].slice(0, count).slice(-REMEMBERED);
  return new Map(last.map((id, place) => [id, place]));
}

/**
 * Which kind of stream may write a thread's projection: the thread's own, or a poll. A command's answer is none of them: it says
 * whether the run began, and a command without a page opens the thread's own stream for as long as it is under way.
 */
export type Source = "detail-connect" | "poll";

/** One stream's right to write. A newer claim makes it stale, whenever its last frames may arrive. */
export interface Authority {
  readonly source: Source;
  readonly epoch: number;
}

export interface Projection {
  readonly view: ThreadView;
  readonly authority: Authority | undefined;
  readonly epoch: number;
  /** The newest frame that can be come back to, if this projection holds all that came before it. */
  readonly cursor: string | undefined;
  readonly seen: SeenFrames;
}

export type ProjectionInput =
  /** A stream asks for the right to write. The thread's own is not displaced by a poll. */
  | { readonly kind: "claim"; readonly source: Source }
  /** The stream is over. */
  | { readonly kind: "release"; readonly authority: Authority }
  | { readonly kind: "frames"; readonly authority: Authority; readonly frames: readonly AgentFrame[] }
  /** Shown before the service has it. */
  | { readonly kind: "sending"; readonly messages: readonly MessageView[] }
  /** The service refused them. */
  | { readonly kind: "unsent"; readonly messageIds: readonly string[] }
  /** The person gives up on a message that was refused. */
  | { readonly kind: "discard"; readonly messageId: string }
  /** As another tab of this browser holds it. */
  | { readonly kind: "adopt"; readonly view: ThreadView; readonly cursor: string | undefined };

export type ProjectionEffect =
  | { readonly kind: "granted"; readonly authority: Authority }
  /** Frames of a stream that is no longer the owner. */
  | { readonly kind: "stale"; readonly count: number }
  | { readonly kind: "duplicate"; readonly count: number }
  /** A run began or ended. One by one: of several that came at once, the last alone would hide how the others ended. */
  | { readonly kind: "run"; readonly run: RunView }
  /** The state names the last mutation it applied. */
  | { readonly kind: "acknowledged"; readonly id: string }
  /** A frame did not fit: only a snapshot mends that. The cursor is gone. */
  | { readonly kind: "misfit"; readonly type: string };

export type ProjectionStep = readonly [next: Projection, effects: readonly ProjectionEffect[]];

export const emptyProjection: Projection = {
  view: emptyView,
  authority: undefined,
  epoch: 0,
  cursor: undefined,
  seen: noneSeen,
};

/** The one path by which anything comes to be shown (docs/requirements.md#client-5). */
export function project(now: Projection, input: ProjectionInput): ProjectionStep {
  switch (input.kind) {
    case "claim":
      return claim(now, input.source);
    case "release":
      return isOwner(now, input.authority) ? [{ ...now, authority: undefined }, []] : [now, []];
    case "frames":
      return isOwner(now, input.authority)
        ? takeFrames(now, input.frames)
        : [now, [{ kind: "stale", count: input.frames.length }]];
    case "sending":
      return [{ ...now, view: input.messages.reduce(showLocal, now.view) }, []];
    case "unsent":
      return [{ ...now, view: input.messageIds.reduce(markUnsent, now.view) }, []];
    case "discard":
      return [{ ...now, view: discard(now.view, input.messageId) }, []];
    case "adopt":
      return [
        { ...now, view: input.view, cursor: input.cursor, seen: noneSeen },
        noteChanges(now.view, input.view, []),
      ];
  }
}

/** The newer stream of a kind takes over: it is the one that was just opened. */
function claim(now: Projection, source: Source): ProjectionStep {
  if (source === "poll" && now.authority?.source === "detail-connect") return [now, []];
  const authority: Authority = { source, epoch: now.epoch + 1 };
  return [{ ...now, authority, epoch: authority.epoch }, [{ kind: "granted", authority }]];
}

function isOwner({ authority }: Projection, { epoch }: Authority): boolean {
  return authority?.epoch === epoch;
}

function takeFrames(now: Projection, frames: readonly AgentFrame[]): ProjectionStep {
  let { view, cursor, seen } = now;
  let duplicates = 0;
  const told: ProjectionEffect[] = [];
  for (const { id, event } of frames) {
    if (id !== undefined && isSeen(seen, id)) {
      duplicates += 1;
      continue;
    }
    const next = projectEvent(view, event);
    if (next === undefined) {
      // What else it says would be built on what is wrong.
      const lost = { ...now, view, cursor: undefined, authority: undefined };
      return [lost, [...told, { kind: "misfit", type: event.type }]];
    }
    noteChanges(view, next, told);
    view = next;
    if (id === undefined) {
      // Halfway through being told everything, we hold neither what we held nor what is being told. And its last frame may
      // be one we saw: the end of the same prelude.
      if (isSnapshot(event)) [cursor, seen] = [undefined, noneSeen];
      continue;
    }
    cursor = id;
    seen = addSeen(seen, id);
  }
  if (duplicates > 0) told.push({ kind: "duplicate", count: duplicates });
  return [{ ...now, view, cursor, seen }, told];
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

function showLocal(view: ThreadView, message: MessageView): ThreadView {
  const known = messageById(view, message.id);
  const local: MessageView = { ...message, local: "sending" };
  if (!known) return appendMessage(view, local);
  // Sent again because the answer was lost: the service has it, and will not say so twice.
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
