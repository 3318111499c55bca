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
 * Converts an agent's event to the JSON that a client would get. A `rawEvent` may be any value of an agent's library, even a
 * cycle: the event is then stored without it. `undefined` when the rest is no JSON either.
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

/** The END of each START and the field that pairs them, by the START's type. */
const PAIRS: Readonly<Record<string, { readonly end: string; readonly by: string }>> = {
  TEXT_MESSAGE_START: { end: "TEXT_MESSAGE_END", by: "messageId" },
  TOOL_CALL_START: { end: "TOOL_CALL_END", by: "toolCallId" },
  REASONING_START: { end: "REASONING_END", by: "messageId" },
  REASONING_MESSAGE_START: { end: "REASONING_MESSAGE_END", by: "messageId" },
  STEP_STARTED: { end: "STEP_FINISHED", by: "stepName" },
  SUBAGENT_STARTED: { end: "SUBAGENT_FINISHED", by: "subagentRunId" },
};

const STARTS_BY_END = new Map([
  ...Object.entries(PAIRS).map(([start, { end }]) => [end, start] as const),
  ["SUBAGENT_ERROR", "SUBAGENT_STARTED"] as const,
]);

/** The START events without an END, after one more event. A terminal ends all. O(open items). */
export function trackOpen(open: readonly AgUiEvent[], event: AgUiEvent): readonly AgUiEvent[] {
  if (PAIRS[event.type]) return [...open, event];
  if (event.type === "RUN_FINISHED" || event.type === "RUN_ERROR" || event.type === "RUN_STARTED") return [];
  const start = STARTS_BY_END.get(event.type);
  if (start === undefined) return open;
  const name = nameOf(start, event);
  return open.filter((one) => one.type !== start || nameOf(start, one) !== name);
}

/** The END of each open item, the one opened last first, so that nothing ends around what is open inside it. */
export function endsOf(open: readonly AgUiEvent[]): AgUiEvent[] {
  return [...open].reverse().flatMap((start) => {
    const pair = PAIRS[start.type];
    if (!pair) return [];
    const { subagentRunId } = start;
    return [
      {
        type: pair.end,
        [pair.by]: start[pair.by] ?? null,
        ...(subagentRunId !== undefined && { subagentRunId }),
      },
    ];
  });
}

/** Identifies an open item. A step may be open once for each owner. */
function nameOf(start: string, event: AgUiEvent): string {
  const by = PAIRS[start]?.by ?? "";
  const owner = start === "STEP_STARTED" ? textOf(event.subagentRunId) : undefined;
  return `${textOf(event[by]) ?? ""}\u0000${owner ?? ""}`;
}
