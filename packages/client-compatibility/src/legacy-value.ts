/** Plain JSON of an AG-UI event or input. */
export type JsonObject = { readonly [key: string]: unknown };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An interrupt as agents announce it: AG-UI's own, or that of the draft before it, which carried a `payload`. */
export interface AnnouncedInterrupt {
  readonly id: string;
  readonly message?: unknown;
  readonly reason?: unknown;
  readonly payload?: unknown;
  readonly metadata?: unknown;
}

/**
 * What clients of `on_interrupt` show: a message, options, the one that is recommended, and the agent that asks. What else the
 * agent asked with stays beside them. `interruptId` comes back with the answer of clients that send the question along.
 */
export function legacyValue(interrupt: AnnouncedInterrupt): JsonObject {
  const asked = askedWith(interrupt);
  const fields = isObject(asked) ? asked : {};
  return {
    ...fields,
    message: firstText(fields.message, interrupt.message, asked, interrupt.reason),
    options: Array.isArray(fields.options) ? fields.options : [],
    recommendation: fields.recommendation ?? null,
    agent: fields.agent ?? null,
    interruptId: interrupt.id,
  };
}

/** LangGraph's own value is the best there is: it is what these clients were made for. */
function askedWith({ payload, metadata }: AnnouncedInterrupt): unknown {
  const meta = isObject(metadata) ? metadata : {};
  const raw = isObject(meta.langgraph) ? meta.langgraph.raw : undefined;
  return raw ?? payload ?? meta.payload ?? meta;
}

function firstText(...candidates: readonly unknown[]): string {
  const found = candidates.find((candidate) => typeof candidate === "string" && candidate !== "");
  return typeof found === "string" ? found : "";
}
