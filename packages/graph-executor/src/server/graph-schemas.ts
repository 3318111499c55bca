import type { Client, GraphSchema } from "@langchain/langgraph-sdk";
import type { Clock, JsonObject } from "@throughline/ai-core";
import { isJsonObject, read, readArray, readString, toPlainObject } from "@throughline/coerce";
import { pause } from "./client.js";

/** The schemas of one graph's state on a server. */
export interface ServerSchemas {
  readonly schema: GraphSchema;
  /** An entrypoint of the functional API: it has no output schema, and all it returns is output. */
  readonly isFunctional: boolean;
}

export interface GraphSchemas {
  /** `undefined` where the server does not respond within `boundMs` of the first request, or responds with an error. */
  of(graphName: string, assistantId: string, boundMs: number): Promise<ServerSchemas | undefined>;
}

/** Reads each graph's schemas once. Some servers read types with a compiler, which takes ten seconds for a graph. */
export function createGraphSchemas(client: Client, clock: Clock): GraphSchemas {
  const requests = new Map<string, { readonly answer: Promise<ServerSchemas>; readonly sentAt: number }>();

  async function load(assistantId: string): Promise<ServerSchemas> {
    const schema = await client.assistants.getSchemas(assistantId);
    const isFunctional =
      propertiesOf(schema.output_schema) === undefined && (await drawsFunction(assistantId));
    return { schema, isFunctional };
  }

  /** Only a graph of nodes is drawn with a node of this name; a function is drawn as one step between two schemas. */
  async function drawsFunction(assistantId: string): Promise<boolean> {
    const { nodes } = await client.assistants.getGraph(assistantId);
    const ids = readArray({ nodes }, "nodes").map((node) => read(node, "id"));
    return ids.length > 0 && !ids.includes("__start__");
  }

  return {
    async of(graphName, assistantId, boundMs) {
      const known = requests.get(graphName);
      const request = known ?? { answer: load(assistantId), sentAt: clock.now() };
      requests.set(graphName, request);
      if (!known) request.answer.catch(() => requests.delete(graphName));
      const waited = new AbortController();
      const left = Math.max(0, request.sentAt + boundMs - clock.now());
      const bound = pause(clock, left, waited.signal).then(() => undefined);
      try {
        return await Promise.race([request.answer.catch(() => undefined), bound]);
      } finally {
        waited.abort();
      }
    },
  };
}

/**
 * Names that LangChain reserves in a state: middleware marks private channels with an underscore, and `jumpTo` names an
 * agent's next node. Neither is in an agent's output.
 */
const PRIVATE_KEYS = "^(_|jumpTo$)";

/**
 * A graph's output as a JSON Schema. A LangGraph server streams and stores every channel of a graph, private ones too, and shows
 * only in its schema which are output. So a key that may be private is not shown:
 * - output keys that are `declared` are the output;
 * - a schema that names properties is the output, and what it does not name is not, unless it is known to be incomplete;
 * - a function's output is whatever it returns;
 * - of any other graph only its messages are known to be output.
 */
export function outputSchemaOf(
  known: ServerSchemas | undefined,
  declared: readonly string[] | undefined,
): JsonObject {
  const schema = known?.schema.output_schema;
  const properties = propertiesOf(schema);
  if (declared) {
    const names = Object.fromEntries(declared.map((key) => [key, properties?.[key] ?? {}]));
    return { ...rootOf(schema), properties: names };
  }
  if (!known) return ONLY_MESSAGES;
  if (properties)
    return leavesKeysOut(known.schema) ? opened(schema, properties) : { ...rootOf(schema), properties };
  return known.isFunctional ? { type: "object" } : ONLY_MESSAGES;
}

/** A graph's input as a JSON Schema. LangGraph itself drops what is no input of the graph. */
export function inputSchemaOf(known: ServerSchemas | undefined): JsonObject {
  const schema = known?.schema.input_schema;
  const properties = propertiesOf(schema);
  if (!known || !properties) return schema ? toPlainObject(schema) : { type: "object" };
  return leavesKeysOut(known.schema) ? opened(schema, properties) : { ...rootOf(schema), properties };
}

/** Whether a server's schema shows neither which keys are output nor that all are. */
export function hidesOutput(
  known: ServerSchemas | undefined,
  declared: readonly string[] | undefined,
): boolean {
  return outputSchemaOf(known, declared) === ONLY_MESSAGES;
}

const ONLY_MESSAGES: JsonObject = { type: "object", properties: { messages: {} } };

/**
 * LangGraph's `StateSchema` leaves a channel out of its JSON Schema whenever the channel's own schema can't be written as one: the
 * todos and files of stock middleware, and an agent's structured response. It is the one generator that names neither a dialect
 * nor a title. Where its output lacks a key that its state names, the author hides keys on purpose, and none is added.
 */
function leavesKeysOut({ output_schema, state_schema }: GraphSchema): boolean {
  const isStateSchema = [output_schema, state_schema].every(
    (schema) => isJsonObject(schema) && readString(schema, "$schema") === undefined && !("title" in schema),
  );
  if (!isStateSchema) return false;
  const shown = propertiesOf(output_schema) ?? {};
  const isPrivate = new RegExp(PRIVATE_KEYS);
  return Object.keys(propertiesOf(state_schema) ?? {}).every((key) => key in shown || isPrivate.test(key));
}

function opened(schema: unknown, properties: JsonObject): JsonObject {
  return {
    ...rootOf(schema),
    properties,
    patternProperties: { [PRIVATE_KEYS]: false },
    additionalProperties: true,
  };
}

/** A schema without its keys. */
function rootOf(schema: unknown): JsonObject {
  const {
    properties: _,
    patternProperties: __,
    additionalProperties: ___,
    ...root
  } = toPlainObject(schema ?? {});
  return { type: "object", ...root };
}

/** `undefined` for a schema that names none. */
function propertiesOf(schema: unknown): JsonObject | undefined {
  const properties = read(schema, "properties");
  const plain = isJsonObject(properties) ? toPlainObject(properties) : {};
  return Object.keys(plain).length > 0 ? plain : undefined;
}
