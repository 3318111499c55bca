import type { Json, JsonObject } from "@throughline/ai-core";
import type { JsonSchema, OpenApiDocument } from "../http/openapi-shape.js";

export interface Judgement {
  readonly document: OpenApiDocument;
  /** Whether a field that the schema does not name is a problem: a client may get it one day, but it should be documented. */
  readonly closed?: boolean;
}

/** What keeps a value from fitting a schema of the document, or `undefined`. Reads the document alone, not what it was made of. */
export function schemaProblem(judgement: Judgement, schema: JsonSchema, value: Json): string | undefined {
  return problemAt(judgement, schema, value, "$");
}

type Check = (
  judgement: Judgement,
  said: Json,
  value: Json,
  at: string,
  schema: JsonSchema,
) => string | undefined;

function problemAt(judgement: Judgement, schema: JsonSchema, value: Json, at: string): string | undefined {
  for (const [keyword, said] of Object.entries(schema)) {
    const check = CHECKS[keyword];
    if (!check) throw new Error(`The document says "${keyword}", which is not understood here.`);
    const problem = check(judgement, said, value, at, schema);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

const silent: Check = () => undefined;

const CHECKS: Readonly<Record<string, Check>> = {
  $ref: (judgement, said, value, at) => problemAt(judgement, named(judgement, String(said)), value, at),
  type: (_, said, value, at) =>
    list(said).some((type) => isOfType(value, String(type)))
      ? undefined
      : `${at} is no ${list(said).join(" or ")}`,
  const: (_, said, value, at) => (same(said, value) ? undefined : `${at} is not ${JSON.stringify(said)}`),
  enum: (_, said, value, at) =>
    list(said).some((one) => same(one, value)) ? undefined : `${at} is none of ${JSON.stringify(said)}`,
  anyOf: (judgement, said, value, at) =>
    schemas(said).some((one) => problemAt(judgement, one, value, at) === undefined)
      ? undefined
      : `${at} fits none: ${schemas(said)
          .map((one) => problemAt(judgement, one, value, at))
          .join("; ")}`,
  oneOf(judgement, said, value, at) {
    const problems = schemas(said).map((one) => problemAt(judgement, one, value, at));
    const fits = problems.filter((problem) => problem === undefined).length;
    return fits === 1 ? undefined : `${at} fits ${fits} of what it may be one of: ${problems.join("; ")}`;
  },
  allOf: (judgement, said, value, at) =>
    schemas(said)
      .map((one) => problemAt(judgement, one, value, at))
      .find((problem) => problem !== undefined),
  required: (_, said, value, at) =>
    list(said)
      .filter((name) => isObject(value) && !Object.hasOwn(value, String(name)))
      .map((name) => `${at}.${String(name)} is missing`)[0],
  properties(judgement, said, value, at, schema) {
    if (!isObject(value) || !isObject(said)) return undefined;
    for (const [name, inner] of Object.entries(value)) {
      const known = Object.hasOwn(said, name) ? said[name] : undefined;
      const problem = isObject(known) ? problemAt(judgement, known, inner, `${at}.${name}`) : undefined;
      if (problem !== undefined) return problem;
      const isOpen = schema.type !== "object" || schema.additionalProperties !== undefined;
      if (judgement.closed && known === undefined && !isOpen) return `${at}.${name} is documented nowhere`;
    }
    return undefined;
  },
  additionalProperties(judgement, said, value, at, { properties = {} }) {
    if (!isObject(value)) return undefined;
    for (const [name, inner] of Object.entries(value)) {
      if (isObject(properties) && Object.hasOwn(properties, name)) continue;
      if (said === false) return `${at}.${name} is one too many`;
      const problem = isObject(said) ? problemAt(judgement, said, inner, `${at}.${name}`) : undefined;
      if (problem !== undefined) return problem;
    }
    return undefined;
  },
  propertyNames(judgement, said, value, at) {
    if (!isObject(value) || !isObject(said)) return undefined;
    return Object.keys(value)
      .map((name) => problemAt(judgement, said, name, `the name ${at}.${name}`))
      .find((problem) => problem !== undefined);
  },
  minProperties: (_, said, value, at) =>
    isObject(value) && Object.keys(value).length < Number(said) ? `${at} has too few fields` : undefined,
  items(judgement, said, value, at) {
    if (!Array.isArray(value) || !isObject(said)) return undefined;
    return value
      .map((inner, index) => problemAt(judgement, said, inner, `${at}[${index}]`))
      .find((problem) => problem !== undefined);
  },
  minItems: (_, said, value, at) =>
    Array.isArray(value) && value.length < Number(said) ? `${at} has too few items` : undefined,
  maxItems: (_, said, value, at) =>
    Array.isArray(value) && value.length > Number(said) ? `${at} has too many items` : undefined,
  minLength: (_, said, value, at) =>
    typeof value === "string" && [...value].length < Number(said) ? `${at} is too short` : undefined,
  maxLength: (_, said, value, at) =>
    typeof value === "string" && [...value].length > Number(said) ? `${at} is too long` : undefined,
  pattern: (_, said, value, at) =>
    typeof value === "string" && !new RegExp(String(said), "u").test(value)
      ? `${at} does not match ${String(said)}`
      : undefined,
  minimum: (_, said, value, at) =>
    typeof value === "number" && value < Number(said) ? `${at} is too small` : undefined,
  maximum: (_, said, value, at) =>
    typeof value === "number" && value > Number(said) ? `${at} is too large` : undefined,
  exclusiveMinimum: (_, said, value, at) =>
    typeof value === "number" && value <= Number(said) ? `${at} is too small` : undefined,
  contentSchema(judgement, said, value, at) {
    if (!isObject(said) || typeof value !== "string") return undefined;
    const parsed = parseJson(value);
    return parsed === undefined ? `${at} is not JSON` : problemAt(judgement, said, parsed, at);
  },
  contentMediaType: silent,
  // Each comes with a pattern that is checked.
  format: silent,
  description: silent,
  examples: silent,
  default: silent,
};

function named({ document }: Judgement, ref: string): JsonSchema {
  const schema = document.components.schemas[ref.slice("#/components/schemas/".length)];
  if (!schema) throw new Error(`${ref} leads nowhere.`);
  return schema;
}

function isOfType(value: Json, type: string): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    case "integer":
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

function list(value: Json): readonly Json[] {
  return Array.isArray(value) ? value : [value];
}

function schemas(value: Json): JsonSchema[] {
  return list(value).filter(isObject);
}

function same(a: Json, b: Json): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parseJson(text: string): Json | undefined {
  try {
    // A parsed boundary: what JSON.parse gives is JSON.
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
