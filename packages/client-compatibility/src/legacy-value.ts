/** Plain JSON of an AG-UI event or input. */
export type JsonObject = { readonly [key: string]: unknown };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An interrupt in an agent's RUN_FINISHED: AG-UI's own, or that of the earlier draft, which carried a `payload`. */
export interface AnnouncedInterrupt {
  readonly id: string;
  readonly message?: unknown;
  readonly reason?: unknown;
  readonly payload?: unknown;
  readonly metadata?: unknown;
}

/**
 * Creates the value that clients of `on_interrupt` show: a message, options, the recommended one, and the agent. All other
 * fields of the interrupt are included. `interruptId` is returned by clients that send the interrupt with the response.
 */
export function legacyValue(interrupt: AnnouncedInterrupt): JsonObject {
  const value = interruptValueOf(interrupt);
  const fields = isObject(value) ? value : {};
  return {
    ...fields,
    message: firstText(fields.message, interrupt.message, value, interrupt.reason),
    options: Array.isArray(fields.options) ? fields.options : [],
    recommendation: fields.recommendation ?? null,
    agent: fields.agent ?? null,
    interruptId: interrupt.id,
  };
}

/** The interrupt's value. LangGraph's own is preferred: these clients were made for it. */
function interruptValueOf({ payload, metadata }: AnnouncedInterrupt): unknown {
  const meta = isObject(metadata) ? metadata : {};
  const raw = isObject(meta.langgraph) ? meta.langgraph.raw : undefined;
  return raw ?? payload ?? meta.payload ?? meta;
}

function firstText(...candidates: readonly unknown[]): string {
  const found = candidates.find((candidate) => typeof candidate === "string" && candidate !== "");
  return typeof found === "string" ? found : "";
}
