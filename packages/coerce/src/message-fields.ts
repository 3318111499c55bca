import { read, readArray } from "./read.js";

/** LangChain's name of a message's type, by the class it was serialised from. */
export const MESSAGE_TYPES: Readonly<Record<string, string>> = {
  AIMessage: "ai",
  AIMessageChunk: "ai",
  HumanMessage: "human",
  HumanMessageChunk: "human",
  SystemMessage: "system",
  SystemMessageChunk: "system",
  ToolMessage: "tool",
  ToolMessageChunk: "tool",
  FunctionMessage: "function",
  ChatMessage: "generic",
  RemoveMessage: "remove",
};

const FIELDS = [
  "content",
  "id",
  "name",
  "tool_calls",
  "tool_call_chunks",
  "tool_call_id",
  "status",
  "usage_metadata",
  "response_metadata",
  "additional_kwargs",
] as const;

/**
 * Reads a message's fields into the flat form that the server sends, from a live object or from LangChain's constructor
 * encoding, which nests everything under `kwargs`. `undefined` for other values.
 */
export function messageFields(value: object): Record<string, unknown> | undefined {
  if (isLiveMessage(value)) {
    const type: unknown = Reflect.apply(typeOf(value), value, []);
    const given = read(value, "lc_kwargs");
    const own = typeof given === "object" && given !== null ? { ...given } : {};
    return { ...own, ...pick(value), type: typeof type === "string" ? type : "unknown" };
  }
  if (read(value, "lc") !== 1 || read(value, "type") !== "constructor") return undefined;
  const fields = read(value, "kwargs");
  const path = readArray(value, "id");
  const name = path[path.length - 1];
  if (typeof fields !== "object" || fields === null || typeof name !== "string") return undefined;
  const type = MESSAGE_TYPES[name];
  return type === undefined ? { ...fields } : { ...fields, type };
}

/** A message's content; `undefined` for other values. */
export function messageContent(value: object): unknown {
  if (!isMessage(value)) return undefined;
  return read(value, "content") ?? read(read(value, "kwargs"), "content");
}

const TYPES: ReadonlySet<unknown> = new Set([
  ...Object.values(MESSAGE_TYPES),
  ...Object.keys(MESSAGE_TYPES),
  "developer",
]);

/** Whether an object is a message in any of its encodings: live, serialised, flat, or OpenAI's `role` and `content`. */
export function isMessage(value: object): boolean {
  if (isLiveMessage(value)) return true;
  if (read(value, "lc") === 1 && read(value, "type") === "constructor") return true;
  return (
    Array.isArray(read(value, "content")) &&
    (TYPES.has(read(value, "type")) || typeof read(value, "role") === "string")
  );
}

function isLiveMessage(value: object): boolean {
  return typeof read(value, "toDict") === "function" && typeof typeOf(value) === "function";
}

function typeOf(value: object): (this: unknown) => unknown {
  return (read(value, "getType") ?? read(value, "_getType")) as (this: unknown) => unknown;
}

/** Picks the fields of an instance. They override those of the constructor, because ids are set after construction. */
function pick(value: object): Record<string, unknown> {
  const picked: Record<string, unknown> = {};
  for (const key of FIELDS) {
    const found = read(value, key);
    if (found !== undefined) picked[key] = found;
  }
  return picked;
}
