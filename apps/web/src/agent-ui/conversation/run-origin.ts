import type { CallView } from "@throughline/agent-client";

export type RunOrigin = "you" | "another-tab" | "person" | "schedule" | "outsider";

export const ORIGIN_HINTS: Readonly<Record<RunOrigin, string>> = {
  you: "Started by you",
  "another-tab": "Started with your account in another tab or on another device",
  person: "Started by a person of the account that shares this thread",
  schedule: "Started by a schedule",
  outsider: "Started outside this service, by a client of the agent's own server",
};

const SPEAKER_LABELS: Readonly<Record<RunOrigin, string>> = {
  you: "You",
  "another-tab": "Another tab",
  person: "A person of the account",
  schedule: "Schedule",
  outsider: "Another client",
};

interface Facts {
  /** This page started it. */
  readonly isOwn: boolean;
  /** When the page was opened, in milliseconds. For earlier runs the tab is unknown. */
  readonly openedAt: number;
  /** Other people may have started it as well. */
  readonly isShared: boolean;
}

export function runOrigin(run: CallView | undefined, { isOwn, openedAt, isShared }: Facts): RunOrigin {
  const kind = run?.startedBy?.kind ?? "client";
  if (kind === "cron") return "schedule";
  if (kind === "foreign") return "outsider";
  if (isShared) return isOwn ? "you" : "person";
  if (isOwn || !run || run.startedAt * 1_000 < openedAt) return "you";
  return "another-tab";
}

/** How a run started: by a message, a response to an interrupt, a command, or nothing visible. */
export type Opening =
  | { readonly kind: "message" | "nothing" }
  | { readonly kind: "command"; readonly command: string }
  /** `words`: the text of the response, where the log contains it. */
  | { readonly kind: "answer"; readonly words: string | undefined }
  /** `continued`: after a pause, or to ask the question again. `edited`: changed the state of the agent. */
  | { readonly kind: "continued" | "edited" };

/** Whether a run is an edit of the state, without work of the agent. */
export function isEdit(
  startedBy: { readonly kind: string; readonly id?: string | undefined } | undefined,
): boolean {
  return startedBy?.kind === "client" && startedBy.id === "edit_state";
}

/** A sentence about who started a run, and how. `person`: the starter as reported by the service. */
export function originText(origin: RunOrigin, opening: Opening, person?: string): string {
  const who = (origin === "person" ? person : undefined) ?? SPEAKER_LABELS[origin];
  switch (opening.kind) {
    case "message":
      return who;
    case "command":
      return `${who} ran ${opening.command}`;
    case "answer":
      // Responses from another tab are attributed to the same person.
      return `${origin === "another-tab" ? SPEAKER_LABELS.you : who} ${opening.words ?? "answered"}`;
    case "continued":
      return `${who} continued`;
    case "edited":
      return `${who} edited the state`;
    case "nothing":
      return origin === "schedule" ? who : `${who} started this run`;
  }
}
