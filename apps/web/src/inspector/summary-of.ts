import type { Json } from "@throughline/ai-core";

/** What tells most, first: an entry's own words, then its names, then how it came out. */
const TELLING = [
  "text",
  "reasoning",
  "delta",
  "tool_name",
  "toolCallName",
  "node",
  "stepName",
  "name",
  "status",
  "error",
  "content",
  "message",
  "code",
  "data",
  "value",
  "ops",
  "state",
  "snapshot",
  "messages",
];
const LONGEST = 160;

/** One line that says what an entry is about. */
export function summaryOf(payload: Json): string {
  if (typeof payload !== "object" || payload === null || Array.isArray(payload)) return brief(payload);
  if (payload.class !== undefined && typeof payload.message === "string")
    return cut(
      [payload.node, `${brief(payload.name ?? "Error")}: ${brief(payload.message)}`]
        .filter(Boolean)
        .join(" · "),
    );
  const told = TELLING.filter((key) => payload[key] !== undefined && payload[key] !== null).slice(0, 2);
  if (told.length > 0) return cut(told.map((key) => brief(payload[key] ?? null)).join(" · "));
  const first = Object.entries(payload).slice(0, 2);
  return cut(first.map(([key, value]) => `${key} ${brief(value)}`).join(" · "));
}

function brief(value: Json): string {
  if (typeof value === "string") return cut(value.replaceAll("\n", "↵"));
  if (Array.isArray(value)) {
    const [first] = value;
    const path =
      typeof first === "object" && first !== null && !Array.isArray(first) ? first.path : undefined;
    if (typeof path === "string") return value.length === 1 ? path : `${path} and ${value.length - 1} more`;
    return `${value.length} ${value.length === 1 ? "item" : "items"}`;
  }
  if (typeof value === "object" && value !== null && typeof value.message === "string")
    return brief(value.message);
  if (typeof value === "object" && value !== null) return Object.keys(value).slice(0, 6).join(", ");
  return String(value);
}

function cut(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
