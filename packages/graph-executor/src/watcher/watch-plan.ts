import type { Dialect } from "@throughline/ai-core";

/** An active run of a watched thread, as far as the plan needs to know it. */
export interface SeenRun {
  readonly upstreamRunId: string;
  readonly dialect: Dialect;
  readonly isOurs: boolean;
}

/** What one look at a thread showed. The checkpoint is only looked at while nothing runs. */
export interface Sighting {
  readonly active: readonly SeenRun[];
  readonly checkpoint?: {
    readonly checkpointId: string;
    /** The upstream run that wrote it; a write outside any run names none. */
    readonly upstreamRunId?: string;
    readonly isOurs: boolean;
  };
}

export interface WatchState {
  /** Newest checkpoint accounted for; `undefined` before the first look, which is the connect's own snapshot. */
  readonly checkpointId: string | null | undefined;
  /** Runs that are read or were reported, so that their checkpoints are no news. */
  readonly known: ReadonlySet<string>;
  readonly waitMs: number;
}

export type WatchEffect =
  | { readonly kind: "follow"; readonly upstreamRunId: string; readonly dialect: Dialect }
  /** The thread changed between two polls; by a run that came and went, or by a plain write. */
  | { readonly kind: "changed"; readonly checkpointId: string; readonly upstreamRunId?: string };

export interface WatchPace {
  readonly activeMs: number;
  readonly idleMs: number;
}

export function startWatch({ activeMs }: WatchPace): WatchState {
  return { checkpointId: undefined, known: new Set(), waitMs: activeMs };
}

/** One look at a thread, turned into what to do about it and when to look again. */
export function planWatch(
  state: WatchState,
  { active, checkpoint }: Sighting,
  pace: WatchPace,
): [state: WatchState, effects: readonly WatchEffect[]] {
  const effects: WatchEffect[] = [];
  const known = new Set(state.known);
  for (const { upstreamRunId, dialect, isOurs } of active) {
    known.add(upstreamRunId);
    if (!isOurs) effects.push({ kind: "follow", upstreamRunId, dialect });
  }
  if (effects.length > 0) return [{ ...state, known, waitMs: pace.activeMs }, effects];
  // Behind a run of ours an outsider's can only wait.
  if (active.length > 0) return [{ ...state, known, waitMs: longer(state, pace) }, effects];

  const checkpointId = checkpoint?.checkpointId ?? null;
  if (checkpointId === state.checkpointId) {
    return [{ ...state, known, waitMs: longer(state, pace) }, effects];
  }
  const writer = checkpoint?.upstreamRunId;
  const isNews = state.checkpointId !== undefined && (writer === undefined || !known.has(writer));
  if (checkpoint && isNews && !checkpoint.isOurs) {
    effects.push({
      kind: "changed",
      checkpointId: checkpoint.checkpointId,
      ...(writer !== undefined && { upstreamRunId: writer }),
    });
  }
  // All earlier runs are behind this checkpoint; remembering them longer would only grow.
  const remembered = new Set(writer === undefined ? [] : [writer]);
  return [{ checkpointId, known: remembered, waitMs: pace.activeMs }, effects];
}

function longer({ waitMs }: WatchState, { idleMs }: WatchPace): number {
  return Math.min(waitMs * 2, idleMs);
}
