import { getConfigTypeSchema } from "@langchain/langgraph/zod/schema";
import type { JsonObject } from "@throughline/ai-core";
import { read, toPlainObject } from "@throughline/coerce";
import type { RunnableGraph } from "./runnable-graph.js";

/**
 * The keys that a graph declares by a zod context schema; `undefined` where it has none. LangGraph drops a schema made with
 * `Annotation.Root` when the graph is built, so its keys can't be read here.
 */
export function declaredContextKeys(graph: RunnableGraph): readonly string[] | undefined {
  const schema = read(read(graph, "builder"), "_configRuntimeSchema");
  if (schema === undefined || schema === null) return undefined;
  const shape =
    read(schema, "shape") ?? read(read(schema, "def"), "shape") ?? read(read(schema, "_def"), "shape");
  const fields: unknown = typeof shape === "function" ? Reflect.apply(shape, schema, []) : shape;
  return typeof fields === "object" && fields !== null ? Object.keys(fields) : [];
}

/**
 * A graph's context schema as JSON Schema: its own keys, and those named in addition. Every key is there, with no type where its
 * zod can't be rendered.
 */
export function contextSchemaOf(graph: RunnableGraph, named: readonly string[] = []): JsonObject {
  const keys = [...(declaredContextKeys(graph) ?? []), ...named];
  const rendered = renderedSchema(graph);
  const properties = toPlainObject(rendered.properties ?? {});
  return {
    ...rendered,
    type: "object",
    properties: { ...Object.fromEntries(keys.map((key) => [key, {}])), ...properties },
  };
}

function renderedSchema(graph: RunnableGraph): JsonObject {
  try {
    const schema: unknown = getConfigTypeSchema(graph);
    return schema === undefined ? {} : toPlainObject(schema);
  } catch {
    return {};
  }
}
