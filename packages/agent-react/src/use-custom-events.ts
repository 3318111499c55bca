import type { RecordedFrame } from "@throughline/agent-client";
import type { Json } from "@throughline/ai-core";
import { useCallback, useMemo } from "react";
import { useHandleFor } from "./providers.js";
import { shallowEqual, useSelector } from "./use-selector.js";
import { NO_FRAMES } from "./use-thread.js";

/** A custom event of the graph. */
export interface AgentCustomEvent {
  readonly name: string;
  readonly value: Json;
  /** When it was received, in milliseconds since the Unix epoch. */
  readonly at: number;
}

/**
 * The graph's own events, oldest first: of the run under way, else of the last one, as far as this page saw them. `name`: those of
 * that name alone. Renders when one arrives; scans the newest 1,000 frames with every frame.
 */
export function useCustomEvents(name?: string): readonly AgentCustomEvent[] {
  const { events } = useHandleFor("useCustomEvents()");
  const select = useCallback((frames: readonly RecordedFrame[]) => customFrames(frames, name), [name]);
  const frames = useSelector(events, NO_FRAMES, select, shallowEqual);
  return useMemo(() => frames.flatMap(toCustomEvent), [frames]);
}

/** Returns the custom frames of the newest run. A run that is sent again after a gap is the same, and so is a frame. */
function customFrames(frames: readonly RecordedFrame[], name: string | undefined): readonly RecordedFrame[] {
  let found = new Map<string | RecordedFrame, RecordedFrame>();
  let runId: string | undefined;
  for (const frame of frames) {
    const { id, event } = frame;
    if (event.type === "RUN_STARTED" && event.runId !== runId && !event.metadata?.throughline?.poll) {
      found = new Map();
      ({ runId } = event);
    }
    if (event.type !== "CUSTOM" || event.name.startsWith("throughline.")) continue;
    const key = id ?? frame;
    if ((name === undefined || event.name === name) && !found.has(key)) found.set(key, frame);
  }
  return [...found.values()];
}

function toCustomEvent({ event, at }: RecordedFrame): readonly AgentCustomEvent[] {
  return event.type === "CUSTOM" ? [{ name: event.name, value: event.value, at }] : [];
}
