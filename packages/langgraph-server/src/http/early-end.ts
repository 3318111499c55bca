import { type ErrorCode, ThroughlineError } from "@throughline/ai-core";
import type { Ending } from "./subscribe-stream.js";

type EarlyReason = Exclude<Ending["reason"], "done">;

const WORDS: Readonly<Record<EarlyReason, { readonly code: ErrorCode; readonly message: string }>> = {
  deleted: { code: "not_found", message: "The thread was deleted." },
  shutting_down: {
    code: "shutting_down",
    message: "This instance is shutting down. Reconnect to go on elsewhere.",
  },
  failed: { code: "internal", message: "The stream broke on our side. Reconnect to go on." },
  expired: { code: "unauthorized", message: "The token expired. Sign in and reconnect to go on." },
};

/** Why a stream ended early, for every reading. */
export function earlyEndError(reason: EarlyReason): ThroughlineError {
  const { code, message } = WORDS[reason];
  return new ThroughlineError(code, message);
}
