import type { Json, JsonObject } from "@throughline/ai-core";
import { isObject, listAt, textAt } from "../plain.js";
import { NO_WORDS, type QuestionBase, type QuestionSource } from "../question-source.js";

export interface QuestionOption {
  readonly label: string;
  /** What tells it from the others, in a line. */
  readonly detail: string;
  /** What to answer with. */
  readonly value: Json;
  readonly isRecommended: boolean;
}

/** A choice. Where the graph gave no schema it may understand other words, too. */
export interface OptionsQuestion extends QuestionBase {
  readonly kind: "options";
  readonly options: readonly QuestionOption[];
}

export function readOptions({ value, schema }: QuestionSource): OptionsQuestion | undefined {
  const own = listAt(value, "options");
  const isOwn = own !== undefined && own.length > 0;
  const listed = isOwn ? own : listAt(schema, "enum");
  if (!listed || listed.length === 0) return undefined;
  const preferred = isOwn && isObject(value) ? (value.recommendation ?? value.recommended) : schema?.default;
  const recommended = JSON.stringify(preferred);
  const message = typeof value === "string" ? value : textAt(value, "message", "question", "title");
  return {
    kind: "options",
    message: message ?? NO_WORDS,
    value,
    schema,
    options: listed.map((option) => toOption(option, recommended)),
  };
}

function toOption(option: Json, recommended: string | undefined): QuestionOption {
  if (!isObject(option)) {
    return {
      label: Array.isArray(option) ? JSON.stringify(option) : String(option),
      detail: "",
      value: option,
      isRecommended: JSON.stringify(option) === recommended,
    };
  }
  const named = ["label", "title", "name"].find((key) => typeof option[key] === "string");
  const key = named ?? Object.keys(option).find((one) => typeof option[one] === "string");
  // `{ label, value }` is how forms write a choice: what is meant is the value.
  const hasOwnValue = named !== undefined && Object.hasOwn(option, "value");
  const value = hasOwnValue ? (option.value ?? null) : option;
  const others = Object.entries(option).filter(([one]) => one !== key && one !== "value");
  const details = others.flatMap(([, detail]) =>
    typeof detail === "string" || typeof detail === "number" ? [String(detail)] : [],
  );
  return {
    label: key === undefined ? JSON.stringify(option) : String(option[key]),
    detail: details.join(" · "),
    value,
    isRecommended: [JSON.stringify(option), JSON.stringify(value)].includes(recommended ?? ""),
  };
}

export function optionsSchema({ options, schema }: OptionsQuestion): JsonObject {
  return schema ?? { enum: options.map(({ value }) => value) };
}
