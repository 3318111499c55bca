import type { WireInterrupt } from "@throughline/agent-client";
import type { Json, JsonObject } from "@throughline/ai-core";
import { isJsonObject } from "../conversation/is-json-object";

interface QuestionOption {
  readonly label: string;
  /** What tells it from the others, in a line. */
  readonly detail: string;
  readonly value: Json;
  readonly isRecommended: boolean;
}

/** What an agent asks, in the form a person answers it. */
export interface Question {
  readonly id: string;
  readonly message: string;
  /** The recommended one first. */
  readonly options: readonly QuestionOption[];
  /** A JSON Schema of the answer; absent where options say it all, or where any text will do. */
  readonly schema: JsonObject | undefined;
  /** Milliseconds since the Unix epoch. */
  readonly expiresAt: number | undefined;
}

export function readQuestion(interrupt: WireInterrupt): Question {
  const raw = rawOf(interrupt);
  const value = isJsonObject(raw) ? raw : {};
  const schema = interrupt.responseSchema;
  const options = optionsOf(value, schema);
  const expiresAt = interrupt.expiresAt === undefined ? Number.NaN : Date.parse(interrupt.expiresAt);
  return {
    id: interrupt.id,
    message: interrupt.message ?? wordsOf(raw) ?? "The agent needs an answer to go on.",
    options: options.toSorted((a, b) => Number(b.isRecommended) - Number(a.isRecommended)),
    schema: options.length > 0 ? undefined : schema,
    expiresAt: Number.isNaN(expiresAt) ? undefined : expiresAt,
  };
}

/** Graphs that say no `message` mostly ask a `question`. */
function wordsOf(raw: Json | undefined): string | undefined {
  const words = isJsonObject(raw) ? raw.question : raw;
  return typeof words === "string" && words.trim() !== "" ? words : undefined;
}

function rawOf({ metadata }: WireInterrupt): Json | undefined {
  const langgraph = metadata?.langgraph;
  return isJsonObject(langgraph) ? langgraph.raw : undefined;
}

function optionsOf(value: JsonObject, schema: JsonObject | undefined): readonly QuestionOption[] {
  if (Array.isArray(value.options) && value.options.length > 0) {
    const recommended = JSON.stringify(value.recommendation ?? value.recommended);
    return value.options.map((option) => readOption(option, recommended));
  }
  if (Array.isArray(schema?.enum)) {
    const recommended = JSON.stringify(schema.default);
    return schema.enum.map((option) => readOption(option, recommended));
  }
  if (schema?.type === "boolean") {
    return [
      { label: "Yes", detail: "", value: true, isRecommended: schema.default === true },
      { label: "No", detail: "", value: false, isRecommended: schema.default === false },
    ];
  }
  return [];
}

function readOption(option: Json, recommended: string | undefined): QuestionOption {
  if (!isJsonObject(option)) {
    return {
      label: String(option),
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
