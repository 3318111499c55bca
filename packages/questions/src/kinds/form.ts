import type { Json, JsonObject } from "@throughline/ai-core";
import { mismatch, type ResponseProblem } from "../mismatch.js";
import { isObject, listAt, nameOf, textAt } from "../plain.js";
import { DEFAULT_MESSAGE, type InterruptRequestBase, type InterruptSource } from "../question-source.js";

/** A form to fill in. `schema`: the response conforms to the schema; `fields`: it is `{ approved, values }`. */
export interface FormRequest extends InterruptRequestBase {
  readonly kind: "form";
  readonly form: "schema" | "fields";
  /** JSON Schema of the form's values: the whole response, or its `values`. */
  readonly fields: JsonObject;
  readonly title: string | undefined;
}

export function readSchemaForm({ value, schema }: InterruptSource): FormRequest | undefined {
  if (!schema) return undefined;
  const message = typeof value === "string" ? value : textAt(value, "message", "question", "title");
  return {
    kind: "form",
    message: message ?? DEFAULT_MESSAGE,
    value,
    schema,
    form: "schema",
    fields: schema,
    title: textAt(value, "title"),
  };
}

/** Parses a list of fields, as LangChain's frontend guide writes forms. */
export function readFieldsForm({ value, schema }: InterruptSource): FormRequest | undefined {
  const fields = listAt(value, "fields");
  const isForm = fields?.length && fields.every((field) => textAt(field, "name") !== undefined);
  if (!isForm || !fields) return undefined;
  const title = textAt(value, "title");
  const context = textAt(value, "context", "message", "description");
  return {
    kind: "form",
    message: context ?? title ?? DEFAULT_MESSAGE,
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

export function respondToForm({ form }: FormRequest, values: Json): Json {
  return form === "schema" ? values : { approved: true, values };
}

export function adaptForm({ form }: FormRequest, response: Json): Json {
  const isBare = form === "fields" && isObject(response) && response.approved === undefined;
  return isBare && response.values === undefined ? { approved: true, values: response } : response;
}

/** Validates the form `fields`. The form `schema` is validated by its schema, as for every kind of interrupt. */
export function checkForm({ form }: FormRequest, response: Json): ResponseProblem | null {
  if (form === "schema") return null;
  if (!isObject(response)) return mismatch(`Expected an object with values, got ${nameOf(response)}.`);
  if (response.approved !== undefined && typeof response.approved !== "boolean")
    return mismatch("Must be true or false.", "approved");
  return response.approved === false || isObject(response.values)
    ? null
    : mismatch("The values are missing.", "values");
}

export function dismissForm({ form }: FormRequest): JsonObject | undefined {
  return form === "fields" ? { approved: false, values: {} } : undefined;
}

export function formSchema({ form, fields }: FormRequest): JsonObject {
  if (form === "schema") return fields;
  return {
    type: "object",
    properties: { approved: { type: "boolean" }, values: fields },
    required: ["approved"],
  };
}
