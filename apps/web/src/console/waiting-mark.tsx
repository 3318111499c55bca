"use client";

import { useWaitingMark } from "./use-waiting-mark";

/** Apart from the frame, which need not render with each list that comes. */
export function WaitingMark(): null {
  useWaitingMark();
  return null;
}
