import type { MessageView } from "@throughline/agent-client";

interface Sight {
  /** As the page has it now. */
  readonly message: MessageView | undefined;
  /** It was sent by this very page, not by the one that stood here before a reload. */
  readonly isOwn: boolean;
  /** The page has shown it. */
  readonly wasShown: boolean;
  /** Taken out of the conversation to be written anew. */
  readonly isWantedBack: boolean;
  /** The page holds all that the thread holds. */
  readonly isComplete: boolean;
}

/**
 * What became of a message that was sent. `waits`: it is on its way, or stands in the conversation as not sent. `settled`: the
 * thread holds it, or it was discarded. `back`: it never arrived and nothing shows it any more, so it is a draft again.
 */
export function sentOutcome(sight: Sight): "waits" | "settled" | "back" {
  const { message, isOwn, wasShown, isWantedBack, isComplete } = sight;
  if (message) return message.local === undefined ? "settled" : "waits";
  if (isWantedBack) return "back";
  if (wasShown) return "settled";
  return isComplete && !isOwn ? "back" : "waits";
}
