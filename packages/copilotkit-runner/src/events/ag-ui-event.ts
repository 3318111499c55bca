import type { Json, JsonObject } from "@throughline/ai-core";

/** An AG-UI event as plain JSON. Only `type` is known of every event; a reader checks the other fields it uses. */
export interface AgUiEvent extends JsonObject {
  type: string;
}

export interface AgUiMessage extends JsonObject {
  id: string;
  role: string;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isEvent(value: unknown): value is AgUiEvent {
  return isObject(value) && typeof value.type === "string";
}

export function isMessage(value: unknown): value is AgUiMessage {
  return isObject(value) && typeof value.id === "string" && typeof value.role === "string";
}

export function textOf(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/**
 * What an agent emitted, as the JSON that a client would get of it. A `rawEvent` may be anything an agent's library made, even
 * a cycle: the event is then kept without it. `undefined` when the rest can't be told as JSON either.
 */
export function toPlainEvent(event: object): AgUiEvent | undefined {
  return parsed(event) ?? parsed({ ...event, rawEvent: undefined });
}

function parsed(event: object): AgUiEvent | undefined {
  try {
    const plain: unknown = JSON.parse(JSON.stringify(event));
    return isEvent(plain) ? plain : undefined;
  } catch {
    return undefined;
  }
}

export function isTerminal({ type }: AgUiEvent): boolean {
  return type === "RUN_FINISHED" || type === "RUN_ERROR";
}
