import { ThroughlineError } from "@throughline/ai-core";

/** A mistake in how a command was called: one line on stderr and exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** A setting that can't be read is a mistake of the call, whether it came as a flag or as a variable. */
export function readingSettings<Value>(read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    const isMistake = error instanceof ThroughlineError && error.code === "invalid_input";
    throw isMistake ? new UsageError(error.message) : error;
  }
}
