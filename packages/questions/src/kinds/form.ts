import type { Json, JsonObject } from "@throughline/ai-core";
import { type Mismatch, mismatch } from "../mismatch.js";
import { isObject, listAt, nameOf, textAt } from "../plain.js";
import { NO_WORDS, type QuestionBase, type QuestionSource } from "../question-source.js";

/** Values to fill in. `schema`: the answer is what the schema says; `fields`: it is `{ approved, values }`. */
export interface FormQuestion extends QuestionBase {
  readonly kind: "form";
  readonly form: "schema" | "fields";
  /** JSON Schema of what a person fills in: the whole answer, or its `values`. */
  readonly fields: JsonObject;
  readonly title: string | undefined;
}

export function readSchemaForm({ value, schema }: QuestionSource): FormQuestion | undefined {
  if (!schema) return undefined;
  const message = typeof value === "string" ? value : textAt(value, "message", "question", "title");
  return {
    kind: "form",
    message: message ?? NO_WORDS,
    value,
    schema,
    form: "schema",
    fields: schema,
    title: textAt(value, "title"),
  };
}

/** A list of fields, as LangChain's frontend guide writes forms. */
export function readFieldsForm({ value, schema }: QuestionSource): FormQuestion | undefined {
  const fields = listAt(value, "fields");
  const isForm = fields?.length && fields.every((field) => textAt(field, "name") !== undefined);
  if (!isForm || !fields) return undefined;
  const title = textAt(value, "title");
  const context = textAt(value, "context", "message", "description");
  return {
    kind: "form",
    message: context ?? title ?? NO_WORDS,
    value,
    schema,
    form: "fields",
    fields: schemaOf(fields),
    title,
  };
}

function schemaOf(fields: readonly Json[]): JsonObject {
  const named = fields.filter(isObject);
  return {
    type: "object",
    properties: Object.fromEntries(named.map((field) => [textAt(field, "name") ?? "", fieldSchema(field)])),
    required: named.filter(({ required }) => required === true).map(({ name }) => name ?? ""),
  };
}

function fieldSchema(field: JsonObject): JsonObject {
  const { default: preset } = field;
  const title = textAt(field, "label");
  const common: JsonObject = {
    ...(title !== undefined && { title }),
    ...(preset !== undefined && { default: preset }),
  };
  const options = listAt(field, "options");
  switch (field.type) {
    case "select":
      return options
        ? { ...common, enum: options.map(optionValue), enumNames: options.map(optionLabel) }
        : { ...common, type: "string" };
    case "checkbox":
      return { ...common, type: "boolean" };
    case "number":
    case "currency":
      return { ...common, type: "number" };
    case "textarea":
      return { ...common, type: "string", maxLength: 100_000 };
    default:
      return { ...common, type: "string" };
  }
}

function optionValue(option: Json): Json {
  return isObject(option) && option.value !== undefined ? option.value : option;
}

function optionLabel(option: Json): string {
  const value = optionValue(option);
  return textAt(option, "label", "title") ?? (typeof value === "string" ? value : JSON.stringify(value));
}

export function answerForm({ form }: FormQuestion, values: Json): Json {
  return form === "schema" ? values : { approved: true, values };
}

export function adaptForm({ form }: FormQuestion, answer: Json): Json {
  const isBare = form === "fields" && isObject(answer) && answer.approved === undefined;
  return isBare && answer.values === undefined ? { approved: true, values: answer } : answer;
}

/** What the schema says is checked for every kind of question alike. */
export function checkForm({ form }: FormQuestion, answer: Json): Mismatch | null {
  if (form === "schema") return null;
  if (!isObject(answer)) return mismatch(`Expected an object with values, got ${nameOf(answer)}.`);
  if (answer.approved !== undefined && typeof answer.approved !== "boolean")
    return mismatch("Must be true or false.", "approved");
  return answer.approved === false || isObject(answer.values)
    ? null
    : mismatch("The values are missing.", "values");
}

export function dismissForm({ form }: FormQuestion): JsonObject | undefined {
  return form === "fields" ? { approved: false, values: {} } : undefined;
}

export function formSchema({ form, fields }: FormQuestion): JsonObject {
  if (form === "schema") return fields;
  return {
    type: "object",
    properties: { approved: { type: "boolean" }, values: fields },
    required: ["approved"],
  };
}
