import type { WireInterrupt } from "@throughline/agent-client";
import { type Question, readQuestion } from "@throughline/questions";
import { isJsonObject } from "../conversation/is-json-object";

/** A question as it came, and until when it may be answered. */
export interface AskedQuestion {
  readonly id: string;
  readonly question: Question;
  /** Milliseconds since the Unix epoch. */
  readonly expiresAt: number | undefined;
}

/** Read from what the graph itself said; the schema the service adds for other clients would say it with fewer words. */
export function toAsked({
  id,
  message,
  reason,
  expiresAt,
  responseSchema,
  metadata,
}: WireInterrupt): AskedQuestion {
  const told = isJsonObject(metadata?.langgraph) ? metadata.langgraph : undefined;
  const ends = expiresAt === undefined ? Number.NaN : Date.parse(expiresAt);
  const own = isJsonObject(told?.responseSchema) ? told.responseSchema : undefined;
  return {
    id,
    question: told
      ? readQuestion(told.raw ?? null, own, { reason })
      : readQuestion(message ?? null, responseSchema, { reason }),
    expiresAt: Number.isNaN(ends) ? undefined : ends,
  };
}
