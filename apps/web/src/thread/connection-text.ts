import type { ConnectionStatus } from "@throughline/agent-client";

export interface ConnectionText {
  readonly tone: "live" | "calm" | "waiting" | "failed";
  readonly words: string;
  /** Explanation, as a tooltip. */
  readonly detail: string;
  /** Announced to screen readers, once per state. */
  readonly announcement: string;
  readonly canReconnect: boolean;
}

export function connectionText(status: ConnectionStatus, now: number): ConnectionText {
  switch (status.kind) {
    case "live":
      return connectionState("live", "Live", "Updates show here as they happen.", "Connected.");
    case "gap-repaired":
      return connectionState(
        "live",
        "Live, gap repaired",
        "Part of what happened while you were away arrived as a summary. Nothing is missing.",
        "Connected. What you missed arrived as a summary.",
      );
    case "connecting":
      return connectionState("calm", "Connecting…", "Asking the service for this thread.", "Connecting.");
    case "closed":
      return connectionState("calm", "Not connected", "Not connected yet.", "");
    case "reconnecting":
      return reconnecting(status.retryAt, now);
    case "failed":
      return {
        ...connectionState("failed", status.message, failureDetail(status.reason), status.message),
        canReconnect: true,
      };
  }
}

function reconnecting(retryAt: number | undefined, now: number): ConnectionText {
  if (retryAt === undefined) {
    return connectionState("waiting", "Offline", "Reconnects when the browser is online again.", "Offline.");
  }
  const seconds = Math.max(0, Math.ceil((retryAt - now) / 1_000));
  const words = seconds === 0 ? "Reconnecting…" : `Reconnecting in ${seconds} s`;
  const detail = "The service does not answer. What is shown stays, and the page catches up when it is back.";
  return {
    ...connectionState("waiting", words, detail, "Connection lost. Reconnecting."),
    canReconnect: true,
  };
}

function failureDetail(reason: string): string {
  switch (reason) {
    case "unauthorized":
      return "Your sign-in has ended. Sign in again, then come back to this page.";
    case "signed_in_as_other":
      return "Another tab of this browser has signed in since. Reload this page to switch, or sign in again.";
    case "not_found":
      return "This thread or agent does not exist for your account, or was deleted.";
    default:
      return `The service refused (${reason}). Trying again will not help.`;
  }
}

function connectionState(
  tone: ConnectionText["tone"],
  words: string,
  detail: string,
  announcement: string,
): ConnectionText {
  return { tone, words, detail, announcement, canReconnect: false };
}
