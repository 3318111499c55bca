// @ts-check
import { readGraphql } from "./read-graphql.mjs";

/** Where a value of a column may be, at any depth. */
const NESTED = new Set(["create", "update", "data", "where", "AND", "OR", "NOT"]);

/**
 * Translates queries of Prisma's Python client, which are GraphQL, to the JSON that the engine takes, and its answers back.
 *
 * @param {string} schema
 */
export function createTranslator(schema) {
  const models = new Map(
    [...schema.matchAll(/^model (\w+) \{([\s\S]*?)^\}/gm)].map(([, name = "", body = ""]) => [
      name,
      new Set([...body.matchAll(/^\s+(\w+)\s+Json\b/gm)].map(([, column = ""]) => column)),
    ]),
  );
  // The name of a model may end with that of another.
  const names = [...models.keys()].sort((one, other) => other.length - one.length);

  return {
    /** @param {string} text */
    toEngine(text) {
      const { operation, arguments: given, selection } = readGraphql(text);
      if (operation === "queryRaw" || operation === "executeRaw")
        return { action: operation, query: { arguments: given, selection: {} } };
      const throws = operation.endsWith("OrThrow") ? "OrThrow" : "";
      const bare = operation.slice(0, operation.length - throws.length);
      const modelName = names.find((name) => bare.endsWith(name));
      if (modelName === undefined) throw new Error(`Unknown model in ${operation}.`);
      const action = `${bare.slice(0, -modelName.length)}${throws}`;
      const columns = models.get(modelName) ?? new Set();
      return { modelName, action, query: { arguments: tagJson(given, columns), selection } };
    },
    /** @param {{ data?: Record<string, unknown> }} answer */
    fromEngine(answer) {
      if (!answer.data) return answer;
      return { ...answer, data: { result: parseRawJson(untag(Object.values(answer.data)[0] ?? null)) } };
    },
  };
}

/**
 * GraphQL carries columns of JSON as text, which the engine wants marked.
 *
 * @param {unknown} value
 * @param {ReadonlySet<string>} columns
 * @returns {unknown}
 */
function tagJson(value, columns) {
  if (Array.isArray(value)) return value.map((item) => tagJson(item, columns));
  if (!isRecord(value)) return value;
  return mapValues(value, (inner, name) => {
    if (NESTED.has(name)) return tagJson(inner, columns);
    if (!columns.has(name)) return inner;
    if (typeof inner === "string") return { $type: "Json", value: inner };
    return isRecord(inner) && typeof inner.equals === "string"
      ? { ...inner, equals: { $type: "Json", value: inner.equals } }
      : inner;
  });
}

/**
 * @param {unknown} value
 * @returns {unknown}
 */
function untag(value) {
  if (Array.isArray(value)) return value.map(untag);
  if (!isRecord(value)) return value;
  if ("$type" in value) return value.$type === "BigInt" ? Number(value.value) : value.value;
  return mapValues(value, untag);
}

/**
 * Rows of raw SQL have their JSON as text, where the native engine has values.
 *
 * @param {unknown} answer
 */
function parseRawJson(answer) {
  if (!isRecord(answer) || !Array.isArray(answer.types) || !Array.isArray(answer.rows)) return answer;
  const { types } = answer;
  const rows = answer.rows.map((/** @type {unknown[]} */ row) =>
    row.map((cell, index) => (types[index] === "json" && typeof cell === "string" ? JSON.parse(cell) : cell)),
  );
  return { ...answer, rows };
}

/**
 * @param {Record<string, unknown>} record
 * @param {(value: unknown, name: string) => unknown} change
 */
function mapValues(record, change) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value, name)]));
}

/**
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
function isRecord(value) {
  return typeof value === "object" && value !== null;
}
