import type { CallView } from "@throughline/agent-client";

export type Starter = "you" | "another-tab" | "schedule" | "outsider";

export const STARTER_WORDS: Readonly<Record<Starter, string>> = {
  you: "You",
  "another-tab": "Another tab",
  schedule: "Schedule",
  outsider: "Outsider",
};

export const STARTER_HINTS: Readonly<Record<Starter, string>> = {
  you: "Started by you",
  "another-tab": "Started with your account in another tab or on another device",
  schedule: "Started by a schedule",
  outsider: "Started past this service, by somebody who uses the agent's server directly",
};

interface Facts {
  /** This page asked for it. */
  readonly isOwn: boolean;
  /** When the page was opened, in milliseconds: of what began before, nobody remembers the tab. */
  readonly openedAt: number;
}

export function whoStarted(run: CallView | undefined, { isOwn, openedAt }: Facts): Starter {
  const kind = run?.startedBy?.kind ?? "client";
  if (kind === "cron") return "schedule";
  if (kind === "foreign") return "outsider";
  if (isOwn || !run || run.startedAt * 1_000 < openedAt) return "you";
  return "another-tab";
}
