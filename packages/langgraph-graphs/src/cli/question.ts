import { isDeepStrictEqual } from "node:util";
import { z } from "zod";

/** An interrupt as a person is asked it. */
export interface Question {
  readonly id: string;
  readonly message: string;
  readonly options: readonly unknown[];
  readonly recommended: number | undefined;
}

export const interruptSchema = z.object({ id: z.string(), value: z.unknown() });
export type PendingInterrupt = z.infer<typeof interruptSchema>;

const choiceSchema = z.looseObject({
  message: z.string().optional(),
  question: z.string().optional(),
  options: z.array(z.unknown()).optional(),
  recommendation: z.unknown().optional(),
});

/** Reads what a graph passed to `interrupt()`: a text, a choice among options, or any other value shown as JSON. */
export function toQuestion({ id, value }: PendingInterrupt): Question {
  if (typeof value === "string") return { id, message: value, options: [], recommended: undefined };
  const choice = choiceSchema.safeParse(value).data;
  const message = choice?.message ?? choice?.question;
  if (!choice || message === undefined) {
    return { id, message: JSON.stringify(value, undefined, 2), options: [], recommended: undefined };
  }
  const options = choice.options ?? [];
  const recommended = options.findIndex((option) => isDeepStrictEqual(option, choice.recommendation));
  return { id, message, options, recommended: recommended < 0 ? undefined : recommended };
}

export type Answer = { readonly value: unknown } | { readonly problem: string };

/** A number picks an option, an empty line takes the recommendation, JSON is that value, anything else is its text. */
export function readAnswer(question: Question, line: string): Answer {
  const text = line.trim();
  const { options, recommended } = question;
  if (options.length > 0) {
    if (text === "" && recommended !== undefined) return { value: options[recommended] };
    if (/^\d+$/.test(text)) {
      const position = Number(text);
      if (position >= 1 && position <= options.length) return { value: options[position - 1] };
      return { problem: `Choose a number from 1 to ${options.length}.` };
    }
  }
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { value: text };
  }
}

/** `KLM, 11:10 am, …`: the values alone, because the names repeat on every line. */
export function describeOption(option: unknown): string {
  if (typeof option !== "object" || option === null) return String(option);
  const values = Object.values(option);
  const plain = values.every((value) => typeof value !== "object" || value === null);
  return plain ? values.map(String).join(", ") : JSON.stringify(option);
}
