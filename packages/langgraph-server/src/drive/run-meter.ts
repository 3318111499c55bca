import { type Envelope, ThroughlineError } from "@throughline/ai-core";

export interface RunBounds {
  readonly maxEventsPerRun: number;
  readonly maxBytesPerRun: number;
}

/** What every envelope costs beside its payload, roughly: ids, names and times. */
const ENVELOPE_BYTES = 400;

/**
 * Counts what an attempt writes; gives the error it ends with once that is more than it may. Bytes are close, not exact: to
 * encode every envelope a second time for the sake of counting would be half of what it costs.
 */
export function createRunMeter(
  bounds: RunBounds,
): (envelopes: readonly Envelope[]) => ThroughlineError | undefined {
  let events = 0;
  let bytes = 0;
  return (envelopes) => {
    events += envelopes.length;
    for (const envelope of envelopes) bytes += ENVELOPE_BYTES + payloadBytes(envelope);
    if (events > bounds.maxEventsPerRun) {
      return exceeded("maxEventsPerRun", bounds.maxEventsPerRun, "events");
    }
    if (bytes > bounds.maxBytesPerRun) return exceeded("maxBytesPerRun", bounds.maxBytesPerRun, "bytes");
    return undefined;
  };
}

function payloadBytes(envelope: Envelope): number {
  if (envelope.type !== "llm_token") return Buffer.byteLength(JSON.stringify(envelope.payload));
  const { text = "", reasoning = "", tool_call } = envelope.payload;
  return Buffer.byteLength(text) + Buffer.byteLength(reasoning) + Buffer.byteLength(tool_call?.args ?? "");
}

function exceeded(limit: keyof RunBounds, max: number, what: string): ThroughlineError {
  return new ThroughlineError(
    "too_large",
    `${limit}: the run wrote more than ${max} ${what} and was stopped. Ask for less in one run.`,
    { details: { limit, max } },
  );
}
