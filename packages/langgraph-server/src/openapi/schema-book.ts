import type { Json, JsonObject } from "@throughline/ai-core";
import { z } from "zod";
import type { JsonSchema } from "./openapi-shape.js";

export interface SchemaBook {
  /** The named schemas, for the document's components. */
  readonly named: Readonly<Record<string, JsonSchema>>;
  /** Any schema the book was made of: a reference where it has a name, else itself. */
  schemaOf(schema: z.ZodType): JsonSchema;
}

const PREFIX = "#/components/schemas/";

/**
 * Turns zod's schemas into JSON Schema, all at once so that they can name each other. `input` is what a client may send,
 * before defaults and transforms; `output` is what it gets, which may hold more one day and so is never closed.
 */
export function schemaBook(
  io: "input" | "output",
  named: Readonly<Record<string, z.ZodType>>,
  others: readonly z.ZodType[],
): SchemaBook {
  const ids = new Map<z.ZodType, string>(Object.entries(named).map(([name, schema]) => [schema, name]));
  for (const schema of others) if (!ids.has(schema)) ids.set(schema, `unnamed ${ids.size}`);
  const registry = z.registry<{ id: string }>();
  for (const [schema, id] of ids) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    io,
    uri: (id) => `${PREFIX}${id}`,
    unrepresentable: "any",
    override({ zodSchema, jsonSchema }) {
      if (io === "output" && jsonSchema.additionalProperties === false)
        delete jsonSchema.additionalProperties;
      // What is caught is never refused, so anything may be sent.
      if (io === "input" && zodSchema._zod.def.type === "catch") {
        for (const keyword of Object.keys(jsonSchema)) delete jsonSchema[keyword];
      }
      // Every key of JSON is a string.
      if (Object.keys(jsonSchema.propertyNames ?? {}).join() === "type") delete jsonSchema.propertyNames;
    },
  });
  if ("__shared" in schemas) throw new Error("A schema that holds itself needs a name in the document.");
  // What zod gives is JSON, which its types do not say.
  const converted = JSON.parse(JSON.stringify(schemas)) as Readonly<Record<string, JsonObject>>;

  function schemaWithout(id: string): JsonSchema {
    const { $schema: _, $id: __, ...schema } = converted[id] ?? {};
    return inlined(schema);
  }

  /** References to what has no name are replaced by what they mean. */
  function inlined(schema: JsonObject): JsonObject {
    const { $ref, ...rest } = schema;
    if (typeof $ref === "string" && !Object.hasOwn(named, $ref.slice(PREFIX.length))) {
      return { ...schemaWithout($ref.slice(PREFIX.length)), ...inlined(rest) };
    }
    return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, inlinedValue(value)]));
  }

  function inlinedValue(value: Json): Json {
    if (Array.isArray(value)) return value.map(inlinedValue);
    return typeof value === "object" && value !== null ? inlined(value) : value;
  }

  return {
    named: Object.fromEntries(Object.keys(named).map((name) => [name, schemaWithout(name)])),
    schemaOf(schema) {
      const id = ids.get(schema) ?? "";
      return Object.hasOwn(named, id) ? { $ref: `${PREFIX}${id}` } : schemaWithout(id);
    },
  };
}
