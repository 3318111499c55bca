import type { CallView } from "@throughline/agent-client";

export type Starter = "you" | "another-tab" | "person" | "schedule" | "outsider";

export const STARTER_WORDS: Readonly<Record<Starter, string>> = {
  you: "You",
  "another-tab": "Another tab",
  person: "A person of the account",
  schedule: "Schedule",
  outsider: "Outsider",
};

export const STARTER_HINTS: Readonly<Record<Starter, string>> = {
  you: "Started by you",
  "another-tab": "Started with your account in another tab or on another device",
  person: "Started by a person of the account that shares this thread",
  schedule: "Started by a schedule",
  outsider: "Started past this service, by somebody who uses the agent's server directly",
};

interface Facts {
  /** This page asked for it. */
  readonly isOwn: boolean;
  /** When the page was opened, in milliseconds: of what began before, nobody remembers the tab. */
  readonly openedAt: number;
  /** Other people may have started it as well. */
  readonly isShared: boolean;
}

export function whoStarted(run: CallView | undefined, { isOwn, openedAt, isShared }: Facts): Starter {
  const kind = run?.startedBy?.kind ?? "client";
  if (kind === "cron") return "schedule";
  if (kind === "foreign") return "outsider";
  if (isShared) return isOwn ? "you" : "person";
  if (isOwn || !run || run.startedAt * 1_000 < openedAt) return "you";
  return "another-tab";
}
