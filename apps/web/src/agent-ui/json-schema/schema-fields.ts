import type { Json, JsonObject } from "@throughline/ai-core";
import { isJsonObject } from "../primitives/is-json-object";

interface FieldBase {
  /** Path of its value in the response; empty for a response that is one value. */
  readonly path: readonly string[];
  readonly label: string;
  readonly hint: string | undefined;
  readonly isRequired: boolean;
}

/** A form field for a part of a JSON Schema. */
export type SchemaField = FieldBase &
  (
    | { readonly kind: "text"; readonly isLong: boolean; readonly maxLength: number | undefined }
    | {
        readonly kind: "number";
        readonly isWhole: boolean;
        readonly min: number | undefined;
        readonly max: number | undefined;
      }
    | { readonly kind: "switch" }
    | { readonly kind: "choice"; readonly options: readonly Json[]; readonly labels: readonly string[] }
    /** Any number of the options. */
    | { readonly kind: "choices"; readonly options: readonly Json[] }
    /** A list of texts, one per line. */
    | { readonly kind: "lines"; readonly maxItems: number | undefined }
    /** A value without a control of its own, edited as JSON. */
    | { readonly kind: "json" }
    /** The only value the schema allows. No control is shown. */
    | { readonly kind: "fixed"; readonly value: Json }
  );

export type Drafts = Readonly<Record<string, string | boolean>>;

export type Reading =
  | { readonly value: Json; readonly problems?: undefined }
  | { readonly problems: Readonly<Record<string, string>> };

const DEEPEST = 3;

/** The fields of a schema. A part without a control becomes a JSON field, so nothing is left out. */
export function fieldsOf(schema: JsonObject): readonly SchemaField[] {
  return fieldsBelow(schema, schema, [], true);
}

function fieldsBelow(
  written: JsonObject,
  above: JsonObject,
  path: readonly string[],
  isRequired: boolean,
): readonly SchemaField[] {
  // A part may bring its own definitions, as where one form combines several schemas.
  const root = isJsonObject(written.$defs) ? written : above;
  const schema = plainSchema(written, root);
  const base: FieldBase = {
    path,
    label: labelOf(schema, path),
    hint: textOf(schema.description),
    isRequired,
  };
  if (schema.const !== undefined) return [{ ...base, kind: "fixed", value: schema.const }];
  if (Array.isArray(schema.enum)) {
    const titles = Array.isArray(schema.enumNames) ? schema.enumNames : schema.enum;
    return [{ ...base, kind: "choice", options: schema.enum, labels: titles.map(String) }];
  }
  switch (typeOf(schema)) {
    case "string":
      return [
        {
          ...base,
          kind: "text",
          isLong: (numberOf(schema.maxLength) ?? 0) > 200,
          maxLength: numberOf(schema.maxLength),
        },
      ];
    case "number":
    case "integer":
      return [
        {
          ...base,
          kind: "number",
          isWhole: typeOf(schema) === "integer",
          min: numberOf(schema.minimum),
          max: numberOf(schema.maximum),
        },
      ];
    case "boolean":
      return [{ ...base, kind: "switch" }];
    case "array": {
      const items = isJsonObject(schema.items) ? plainSchema(schema.items, root) : {};
      if (Array.isArray(items.enum)) return [{ ...base, kind: "choices", options: items.enum }];
      return typeOf(items) === "string"
        ? [{ ...base, kind: "lines", maxItems: numberOf(schema.maxItems) }]
        : [{ ...base, kind: "json" }];
    }
    case "object": {
      const properties = isJsonObject(schema.properties) ? Object.entries(schema.properties) : [];
      if (path.length >= DEEPEST || properties.length === 0) return [{ ...base, kind: "json" }];
      const required = Array.isArray(schema.required) ? schema.required : [];
      return properties.flatMap(([name, part]) =>
        fieldsBelow(isJsonObject(part) ? part : {}, root, [...path, name], required.includes(name)),
      );
    }
    default:
      return [{ ...base, kind: "json" }];
  }
}

/** Whether any field has a control other than JSON. */
export function hasControls(fields: readonly SchemaField[]): boolean {
  return fields.some(({ kind }) => kind !== "json" && kind !== "fixed");
}

/** The default value of a schema, composed of the defaults of its properties. */
export function presetOf(written: JsonObject, root: JsonObject = written): Json | undefined {
  const schema = plainSchema(written, root);
  if (schema.default !== undefined) return schema.default;
  if (!isJsonObject(schema.properties)) return undefined;
  const presets = Object.entries(schema.properties).flatMap(([name, part]): [string, Json][] => {
    const preset = isJsonObject(part) ? presetOf(part, root) : undefined;
    return preset === undefined ? [] : [[name, preset]];
  });
  return presets.length > 0 ? Object.fromEntries(presets) : undefined;
}

export function keyOf({ path }: SchemaField): string {
  return path.join(".");
}

/** The initial drafts of a form: the current values, else empty ones. */
export function draftsOf(fields: readonly SchemaField[], value: Json | undefined): Drafts {
  return Object.fromEntries(
    fields.map((field) => [keyOf(field), draftOf(field, valueAt(value, field.path))]),
  );
}

function draftOf(field: SchemaField, value: Json | undefined): string | boolean {
  if (field.kind === "switch") return value === true;
  if (field.kind === "lines") return Array.isArray(value) ? value.join("\n") : "";
  if (field.kind === "choices") return JSON.stringify(Array.isArray(value) ? value : []);
  if (field.kind === "json") return value === undefined ? "" : JSON.stringify(value, undefined, 2);
  const isShown = typeof value === "string" || typeof value === "number";
  return isShown || (field.kind === "choice" && value !== undefined) ? String(value) : "";
}

/** The value that the drafts make, or their problems by field. */
export function readDrafts(fields: readonly SchemaField[], drafts: Drafts): Reading {
  const problems: Record<string, string> = {};
  let whole: Json = {};
  for (const field of fields) {
    const read = readDraft(field, drafts[keyOf(field)] ?? "");
    if (typeof read === "object" && "problem" in read) problems[keyOf(field)] = read.problem;
    else if (read.value !== undefined) whole = withValue(whole, field.path, read.value);
  }
  return Object.keys(problems).length > 0 ? { problems } : { value: whole };
}

type DraftReading = { readonly value: Json | undefined } | { readonly problem: string };

function readDraft(field: SchemaField, draft: string | boolean): DraftReading {
  if (field.kind === "fixed") return { value: field.value };
  if (field.kind === "switch") return { value: draft === true };
  const text = String(draft);
  if (field.kind === "lines") {
    const lines = text
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean);
    const isTooMany = field.maxItems !== undefined && lines.length > field.maxItems;
    return isTooMany ? { problem: `No more than ${field.maxItems} lines.` } : { value: lines };
  }
  if (field.kind === "choices") return { value: chosenOf(text) };
  if (text.trim() === "")
    return field.isRequired ? { problem: "This needs an answer." } : { value: undefined };
  if (field.kind === "choice") {
    // The option itself is the value; it may be a number or null.
    const at = field.options.findIndex((option) => String(option) === text);
    return at < 0 ? { problem: "Choose one of these." } : { value: field.options[at] };
  }
  if (field.kind === "json") return parsedDraft(text);
  if (field.kind === "text") {
    const isTooLong = field.maxLength !== undefined && text.length > field.maxLength;
    return isTooLong ? { problem: `No more than ${field.maxLength} characters.` } : { value: text };
  }
  const number = Number(text);
  if (!Number.isFinite(number)) return { problem: "This must be a number." };
  if (field.isWhole && !Number.isInteger(number)) return { problem: "This must be a whole number." };
  if (field.min !== undefined && number < field.min) return { problem: `No less than ${field.min}.` };
  if (field.max !== undefined && number > field.max) return { problem: `No more than ${field.max}.` };
  return { value: number };
}

/** The selected options of a field of kind `choices`, whose draft is JSON. */
export function chosenOf(draft: string): Json[] {
  const chosen: Json = draft === "" ? [] : JSON.parse(draft);
  return Array.isArray(chosen) ? chosen : [];
}

function parsedDraft(text: string): DraftReading {
  try {
    const value: Json = JSON.parse(text);
    return { value };
  } catch {
    return { problem: "This is not JSON. A text needs quotation marks." };
  }
}

/** Sets the value at a path, without mutation. `value` `undefined` removes it. */
export function withValue(whole: Json, [name, ...rest]: readonly string[], value: Json | undefined): Json {
  if (name === undefined) return value ?? null;
  const { [name]: inner, ...others } = isJsonObject(whole) ? whole : {};
  if (rest.length === 0 && value === undefined) return others;
  // Retains the order of keys.
  return { ...(isJsonObject(whole) ? whole : {}), [name]: withValue(inner ?? {}, rest, value) };
}

export function valueAt(value: Json | undefined, path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>((at, name) => (isJsonObject(at) ? at[name] : undefined), value);
}

/** `cycleSeconds` is "Cycle seconds", `delayMs` is "Delay (ms)". */
function labelOf(schema: JsonObject, path: readonly string[]): string {
  const name =
    textOf(schema.title) ??
    path
      .at(-1)
      ?.replace(/([a-z\d])([A-Z])/g, "$1 $2")
      .replace(/_/g, " ")
      .toLowerCase()
      .replace(/ (ms|usd|kb|mb)$/, " ($1)");
  return name === undefined ? "Your answer" : name.charAt(0).toUpperCase() + name.slice(1);
}

function typeOf({ type }: JsonObject): string | undefined {
  return Array.isArray(type) ? textOf(type.find((one) => one !== "null")) : textOf(type);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

/** Limit of nested references, so that a schema that refers to itself ends. */
const MOST_STEPS = 8;

/**
 * Simplifies a schema for a form: resolves references, reads `T or null` as `T`, and a union of constants as a list of choices.
 * Any other union has no `type`, and becomes a JSON field.
 */
function plainSchema(written: JsonObject, root: JsonObject): JsonObject {
  let schema = written;
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const next = plainer(schema, root);
    if (next === schema) return schema;
    schema = next;
  }
  return {};
}

function plainer(schema: JsonObject, root: JsonObject): JsonObject {
  const { $ref, anyOf, oneOf, allOf, ...own } = schema;
  if (typeof $ref === "string") return { ...referred($ref, root), ...own };
  if (Array.isArray(allOf) && allOf.length === 1 && isJsonObject(allOf[0])) return { ...allOf[0], ...own };
  const union = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined;
  if (!union) return schema;
  const parts = union.filter(isJsonObject).filter(({ type }) => type !== "null");
  const [only] = parts;
  if (only && parts.length === 1) return { ...only, ...own };
  const values = parts.map((part) => plainSchema(part, root).const);
  if (parts.length === 0 || values.some((value) => value === undefined)) return own;
  const choices: Json[] = values.flatMap((value) => (value === undefined ? [] : [value]));
  const names = parts.map(({ title }, at) => (typeof title === "string" ? title : String(choices[at])));
  return { ...own, enum: choices, enumNames: names };
}

/** Resolves a reference such as `#/$defs/Name`, as Pydantic and zod emit it. */
function referred(reference: string, root: JsonObject): JsonObject {
  if (!reference.startsWith("#")) return {};
  const names = reference
    .split("/")
    .slice(1)
    .map((name) => name.replace(/~1/g, "/").replace(/~0/g, "~"));
  const found = names.reduce<Json | undefined>((at, name) => (isJsonObject(at) ? at[name] : undefined), root);
  return isJsonObject(found) ? found : {};
}

const LONG_TEXT = 60;

/** Derives a schema from values. Their types stay the same. */
export function schemaOfValues(values: JsonObject): JsonObject {
  return {
    type: "object",
    properties: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, typeOfValue(value)])),
  };
}

function typeOfValue(value: Json): JsonObject {
  if (typeof value === "string")
    return { type: "string", ...(value.length > LONG_TEXT && { maxLength: 100_000 }) };
  if (typeof value === "number" || typeof value === "boolean") return { type: typeof value };
  const isTexts = Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === "string");
  return isTexts ? { type: "array", items: { type: "string" } } : {};
}
