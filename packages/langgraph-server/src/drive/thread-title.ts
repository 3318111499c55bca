import type { GraphRunStart, Message } from "@throughline/ai-core";

const MAX_CHARACTERS = 80;

/** The beginning of the first thing a person says in a run; `undefined` when no person says anything. */
export function titleFrom(start: GraphRunStart | undefined): string | undefined {
  if (start?.kind !== "input" && start?.kind !== "fork") return undefined;
  for (const message of start.messages) {
    if (message.role !== "user") continue;
    const text = textOf(message).replace(/\s+/gu, " ").trim();
    if (text !== "") return shorten(text);
  }
  return undefined;
}

function textOf({ content }: Message): string {
  if (typeof content === "string") return content;
  return content.map((part) => (typeof part.text === "string" ? part.text : "")).join(" ");
}

/** By code points, so that no half of a pair is left at the end. */
function shorten(text: string): string {
  const characters = Array.from(text.slice(0, 2 * MAX_CHARACTERS + 2));
  return characters.length > MAX_CHARACTERS ? `${characters.slice(0, MAX_CHARACTERS - 1).join("")}…` : text;
}
