"use client";

import { useAllListedThreads } from "../agents/activity";
import { useTabMark } from "./use-tab-title";

/** Marks the tab while threads wait for an answer. Apart from the frame, which need not render with each list that comes. */
export function WaitingMark(): null {
  const listed = useAllListedThreads();
  const rows = [...listed.values()].flatMap((list) => list.rows ?? []);
  useTabMark(rows.filter(({ status }) => status === "waiting").length);
  return null;
}
