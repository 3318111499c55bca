import { type AnnouncedInterrupt, isObject, type JsonObject, legacyValue } from "./legacy-value.js";

export interface LegacyEventOptions {
  /** `text`: JSON as a string, which today's clients parse. `object`: the value itself. */
  readonly value: "text" | "object";
  /**
   * The outcome in RUN_FINISHED. `omit`: none, which every client accepts; `name`: `"interrupt"`, for clients of the draft that
   * had only that word; `keep`: the agent's own outcome, for clients that respond to it with `resume`.
   */
  readonly outcome: "omit" | "name" | "keep";
}

/** The open interrupts of a run that ended with some. */
export function interruptsOf(event: JsonObject): readonly AnnouncedInterrupt[] {
  if (event.type !== "RUN_FINISHED") return [];
  const { outcome, interrupt } = event;
  if (isObject(outcome) && outcome.type === "interrupt" && Array.isArray(outcome.interrupts)) {
    return outcome.interrupts.filter(isInterrupt);
  }
  // The draft: one interrupt next to the outcome's name.
  return (outcome === "interrupt" || outcome === undefined) && isInterrupt(interrupt) ? [interrupt] : [];
}

function isInterrupt(value: unknown): value is JsonObject & AnnouncedInterrupt {
  return isObject(value) && typeof value.id === "string";
}

/** Inserts a run's interrupts as `on_interrupt` before its end; returns every other event itself, the same object. */
export function toLegacyEvents(event: JsonObject, options: LegacyEventOptions): readonly JsonObject[] {
  const interrupts = interruptsOf(event);
  if (interrupts.length === 0) return [event];
  const announced = interrupts.map((interrupt) => {
    const value = legacyValue(interrupt);
    return {
      type: "CUSTOM",
      name: "on_interrupt",
      value: options.value === "text" ? JSON.stringify(value) : value,
    };
  });
  if (options.outcome === "keep") return [...announced, event];
  const { outcome: _outcome, interrupt: _interrupt, ...finished } = event;
  return [...announced, options.outcome === "name" ? { ...finished, outcome: "interrupt" } : finished];
}
