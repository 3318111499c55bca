import type { Json, JsonObject } from "@throughline/ai-core";
import { isObject, listAt, textAt } from "../plain.js";
import { DEFAULT_MESSAGE, type InterruptRequestBase, type InterruptSource } from "../question-source.js";

export interface InterruptOption {
  readonly label: string;
  /** The differences from the other options, on one line. */
  readonly detail: string;
  /** The response that selects the option. */
  readonly value: Json;
  readonly isRecommended: boolean;
}

/** A choice. Where the graph gave no schema it may also understand other texts. */
export interface OptionsRequest extends InterruptRequestBase {
  readonly kind: "options";
  readonly options: readonly InterruptOption[];
}

export function readOptions({ value, schema }: InterruptSource): OptionsRequest | undefined {
  const own = listAt(value, "options");
  const isOwn = own !== undefined && own.length > 0;
  const listed = isOwn ? own : listAt(schema, "enum");
  if (!listed || listed.length === 0) return undefined;
  const preferred = isOwn && isObject(value) ? (value.recommendation ?? value.recommended) : schema?.default;
  const recommended = JSON.stringify(preferred);
  const message = typeof value === "string" ? value : textAt(value, "message", "question", "title");
  return {
    kind: "options",
    message: message ?? DEFAULT_MESSAGE,
    value,
    schema,
    options: listed.map((option) => toOption(option, recommended)),
  };
}

function toOption(option: Json, recommended: string | undefined): InterruptOption {
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
  // Forms write a choice as `{ label, value }`: the response is the value.
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

export function optionsSchema({ options, schema }: OptionsRequest): JsonObject {
  return schema ?? { enum: options.map(({ value }) => value) };
}
