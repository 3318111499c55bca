import type { Json, JsonObject } from "@throughline/ai-core";
import type { JsonSchema, OpenApiDocument } from "../openapi-shape.js";

const PREFIX = "#/components/schemas/";

/** Words a person would write, where a field's name says what is meant. */
const WORDS: Readonly<Record<string, Json>> = {
  agent: "sentinel",
  accountId: "dev",
  content: "Hello",
  method: "info",
  model: "offline",
  schedule: "0 9 * * 1-5",
  threadName: "my-thread",
  threadId: "my-thread",
  runId: "my-run",
  requestId: "my-request",
  traceId: "my-trace",
  role: "user",
  messages: [{ role: "user", content: "Hello" }],
};

/** The smallest value that fits a schema and means something: what is required, and `also` where it exists. */
export function exampleValue(
  document: OpenApiDocument,
  schema: JsonSchema,
  also: readonly string[] = [],
): Json {
  const { $ref, type, properties, required, anyOf, oneOf, minimum, minProperties } = schema;
  if (typeof $ref === "string") {
    return exampleValue(document, document.components.schemas[$ref.slice(PREFIX.length)] ?? {}, also);
  }
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined) return schema.default;
  if (Array.isArray(schema.enum)) return schema.enum[0] ?? null;
  const [first] = [anyOf, oneOf].find(Array.isArray) ?? [];
  if (isObject(first)) return exampleValue(document, first, also);
  if (type === "object" && isObject(properties)) {
    const names = Object.keys(properties);
    const needed = Array.isArray(required) ? required : [];
    const shown = names.filter((name) => needed.includes(name) || also.includes(name));
    if (shown.length === 0 && Number(minProperties ?? 0) > 0) shown.push(...names.slice(0, 1));
    return Object.fromEntries(
      shown.map((name) => {
        const inner = properties[name];
        const given = isObject(inner) && Array.isArray(inner.examples) ? inner.examples[0] : undefined;
        return [name, given ?? WORDS[name] ?? exampleValue(document, isObject(inner) ? inner : {})];
      }),
    );
  }
  if (type === "array") {
    const { items, minItems } = schema;
    return isObject(items) && Number(minItems ?? 0) > 0 ? [exampleValue(document, items)] : [];
  }
  if (type === "integer" || type === "number") return typeof minimum === "number" ? minimum : 1;
  if (type === "boolean") return true;
  return type === "string" ? "text" : {};
}

/** As `exampleValue`, for a name in a path or a query. */
export function exampleName(document: OpenApiDocument, name: string, schema: JsonSchema): string {
  if (name === "agentId") return "chat";
  const known = WORDS[name];
  return typeof known === "string" ? known : String(exampleValue(document, schema));
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
