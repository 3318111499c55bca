import type { ConnectionStatus } from "@throughline/agent-client";

export interface ConnectionWords {
  readonly tone: "live" | "calm" | "waiting" | "failed";
  readonly words: string;
  /** What it means, for whoever rests on it. */
  readonly detail: string;
  /** Told to whoever hears the page, once per state. */
  readonly heard: string;
  readonly canReconnect: boolean;
}

export function connectionWords(status: ConnectionStatus, now: number): ConnectionWords {
  switch (status.kind) {
    case "live":
      return said("live", "Live", "What happens shows here as it happens.", "Connected.");
    case "gap-repaired":
      return said(
        "live",
        "Live, gap repaired",
        "Some of what happened while you were away is told as a summary. Everything is here.",
        "Connected. What was missed is here as a summary.",
      );
    case "connecting":
      return said("calm", "Connecting…", "Asking the service for this thread.", "Connecting.");
    case "closed":
      return said("calm", "Not connected", "Nothing is asked for yet.", "");
    case "reconnecting":
      return reconnecting(status.retryAt, now);
    case "failed":
      return {
        ...said("failed", status.message, failureDetail(status.reason), status.message),
        canReconnect: true,
      };
  }
}

function reconnecting(retryAt: number | undefined, now: number): ConnectionWords {
  if (retryAt === undefined) {
    return said("waiting", "Offline", "This goes on by itself once the browser is online.", "Offline.");
  }
  const seconds = Math.max(0, Math.ceil((retryAt - now) / 1_000));
  const words = seconds === 0 ? "Reconnecting…" : `Reconnecting in ${seconds} s`;
  const detail =
    "The service does not answer. What was shown stays, and what comes meanwhile is caught up with.";
  return { ...said("waiting", words, detail, "Connection lost. Reconnecting."), canReconnect: true };
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
      return `The service refused (${reason}). Trying again by itself would not help.`;
  }
}

function said(tone: ConnectionWords["tone"], words: string, detail: string, heard: string): ConnectionWords {
  return { tone, words, detail, heard, canReconnect: false };
}
