import {
  type AgentFrame,
  emptyProjection,
  type Projection,
  project,
  type ThreadView,
} from "@throughline/agent-client";

/** A frame, and the thread as it stands then. */
export interface FrameStep {
  readonly frame: AgentFrame;
  readonly view: ThreadView;
}

/**
 * Projects frames one at a time, because a terminal tells what happened in order and can't draw the last view alone. Drops what
 * came before, and what follows a frame that does not fit: agent-client asks for all of it anew.
 */
export function createFrameSteps(): (frames: readonly AgentFrame[]) => readonly FrameStep[] {
  let projection: Projection = emptyProjection;

  return (frames) => {
    const steps: FrameStep[] = [];
    for (const frame of frames) {
      if (!projection.authority)
        [projection] = project(projection, { kind: "claim", source: "detail-connect" });
      const { authority } = projection;
      if (!authority) break;
      const [next, effects] = project(projection, { kind: "frames", authority, frames: [frame] });
      projection = next;
      if (effects.some(({ kind }) => kind === "misfit")) break;
      if (effects.some(({ kind }) => kind === "duplicate")) continue;
      steps.push({ frame, view: next.view });
    }
    return steps;
  };
}
