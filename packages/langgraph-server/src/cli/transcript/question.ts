import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { FrameInterrupt } from "./frame.js";
import type { Span } from "./span.js";

/** An interrupt as a person is asked it. */
export interface Question {
  readonly interruptId: string;
  readonly message: string;
  readonly options: readonly unknown[];
  readonly recommended: number | undefined;
}

const choiceSchema = z.looseObject({
  message: z.string().optional(),
  question: z.string().optional(),
  options: z.array(z.unknown()).optional(),
  recommendation: z.unknown().optional(),
});

/** Reads what a graph passed to `interrupt()`: a text, a choice among options, or any other value shown as JSON. */
export function toQuestion({ id, message, metadata }: FrameInterrupt): Question {
  const raw = metadata?.langgraph?.raw;
  const choice = choiceSchema.safeParse(raw).data;
  const options = choice?.options ?? [];
  const recommended = options.findIndex((option) => isDeepStrictEqual(option, choice?.recommendation));
  const asked = typeof raw === "string" ? raw : (choice?.message ?? choice?.question ?? message);
  return {
    interruptId: id,
    message: asked ?? JSON.stringify(raw ?? null, undefined, 2),
    options,
    recommended: recommended < 0 ? undefined : recommended,
  };
}

export type Answer = { readonly value: unknown } | { readonly problem: string };

/** A number picks an option, an empty line takes the recommendation, JSON is that value, anything else is its text. */
export function readAnswer({ options, recommended }: Question, line: string): Answer {
  const text = line.trim();
  if (text === "") {
    return recommended === undefined ? { problem: "Type an answer." } : { value: options[recommended] };
  }
  if (options.length > 0 && /^\d+$/.test(text)) {
    const position = Number(text);
    if (position >= 1 && position <= options.length) return { value: options[position - 1] };
    return { problem: `Choose a number from 1 to ${options.length}.` };
  }
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { value: text };
  }
}

/** Without the end of its last line. */
export function showQuestion({ message, options, recommended }: Question): readonly Span[] {
  const list = options.flatMap((option, index): Span[] => [
    { tone: "plain", text: `\n  ${index + 1}. ${describeOption(option)}` },
    ...(index === recommended ? [{ tone: "mark", text: " (recommended)" } as const] : []),
  ]);
  return [{ tone: "strong", text: `? ${message}` }, ...list];
}

/** `KLM, 11:10 am, …`: the values alone, because the names repeat on every line. */
function describeOption(option: unknown): string {
  if (typeof option !== "object" || option === null) return String(option);
  const values = Object.values(option);
  const isPlain = values.every((value) => typeof value !== "object" || value === null);
  return isPlain ? values.map(String).join(", ") : JSON.stringify(option);
}
