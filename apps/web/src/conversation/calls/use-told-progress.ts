"use client";

import type { LoggedFrame } from "@throughline/agent-client";
import { useThreadHandle } from "@throughline/agent-react";
import type { Json } from "@throughline/ai-core";
import { useCallback, useSyncExternalStore } from "react";
import { type Progress, progressOf } from "./progress";

const nothing = () => undefined;
const keepStill = () => () => {};

/** What the run under way said last of its progress, in an event of its own. */
export function useToldProgress(isRunning: boolean): Progress | undefined {
  const { events } = useThreadHandle();
  const read = useCallback(() => lastTold(events.getSnapshot()), [events]);
  const told = useSyncExternalStore(
    isRunning ? events.subscribe : keepStill,
    isRunning ? read : nothing,
    nothing,
  );
  return progressOf(told);
}

/** Looks back no further than to where the run began. */
export function lastTold(frames: readonly LoggedFrame[]): Json | undefined {
  for (let at = frames.length - 1; at >= 0; at -= 1) {
    const event = frames[at]?.event;
    if (!event || event.type === "RUN_STARTED") return undefined;
    if (event.type === "CUSTOM" && !event.name.startsWith("throughline.") && progressOf(event.value))
      return event.value;
  }
  return undefined;
}
