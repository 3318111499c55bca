import { ThroughlineError } from "@throughline/ai-core";

/** The same for a key that is not there and for another account's: which ids exist is not told. */
export function unknownKey(virtualKeyId: string): ThroughlineError {
  return new ThroughlineError("unauthorized", `This account has no key "${virtualKeyId}" for model calls.`, {
    details: { virtualKeyId },
  });
}
