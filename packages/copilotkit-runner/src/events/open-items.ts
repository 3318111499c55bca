import { type AgUiEvent, textOf } from "./ag-ui-event.js";

/** What pairs a START with its END, by the START's type. */
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

/** A step may be open once for each owner. */
function nameOf(start: string, event: AgUiEvent): string {
  const by = PAIRS[start]?.by ?? "";
  const owner = start === "STEP_STARTED" ? textOf(event.subagentRunId) : undefined;
  return `${textOf(event[by]) ?? ""}\u0000${owner ?? ""}`;
}
