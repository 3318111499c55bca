import { type AnnouncedInterrupt, isObject, type JsonObject, legacyValue } from "./legacy-value.js";

export interface LegacyEventOptions {
  /** `text`: JSON as a string, which today's clients parse. `object`: the value itself. */
  readonly value: "text" | "object";
  /**
   * What the RUN_FINISHED says: nothing, which every client takes; `name`: `"interrupt"`, for clients of the draft that had only
   * that word; `keep`: the agent's own outcome, for clients that answer it with `resume`.
   */
  readonly outcome: "omit" | "name" | "keep";
}

/** The interrupts of a run that waits for answers. */
export function interruptsOf(event: JsonObject): readonly AnnouncedInterrupt[] {
  if (event.type !== "RUN_FINISHED") return [];
  const { outcome, interrupt } = event;
  if (isObject(outcome) && outcome.type === "interrupt" && Array.isArray(outcome.interrupts)) {
    return outcome.interrupts.filter(isInterrupt);
  }
  // The draft: one interrupt beside the outcome's name.
  return (outcome === "interrupt" || outcome === undefined) && isInterrupt(interrupt) ? [interrupt] : [];
}

function isInterrupt(value: unknown): value is JsonObject & AnnouncedInterrupt {
  return isObject(value) && typeof value.id === "string";
}

/** A run's end with its questions told as `on_interrupt` before it; every other event as it is, the very same object. */
export function toLegacyEvents(event: JsonObject, options: LegacyEventOptions): readonly JsonObject[] {
  const interrupts = interruptsOf(event);
  if (interrupts.length === 0) return [event];
  const asked = interrupts.map((interrupt) => {
    const value = legacyValue(interrupt);
    return {
      type: "CUSTOM",
      name: "on_interrupt",
      value: options.value === "text" ? JSON.stringify(value) : value,
    };
  });
  if (options.outcome === "keep") return [...asked, event];
  const { outcome: _outcome, interrupt: _interrupt, ...finished } = event;
  return [...asked, options.outcome === "name" ? { ...finished, outcome: "interrupt" } : finished];
}
