import {
  addUsage,
  type Json,
  type JsonObject,
  type Message,
  NO_USAGE,
  type SubgraphShape,
  type TokenUsage,
} from "@throughline/ai-core";
import {
  asRecord,
  read,
  readArray,
  readMessage,
  readString,
  toMessage,
  toPlainWithin,
} from "@throughline/coerce";

/** In characters of JSON: a state may be large, and the log has its messages and changes in entries of their own. */
const MAX_STATE = 4_000;
const MAX_FILES = 1_000;
const MAX_OUTPUT = 2_000;

/** Input and result of a subgraph as the log has them. */
export interface SubgraphStates {
  /** The input of a subgraph, with messages in the log's form. The beginning of it as text, where it is long. */
  input(name: string, input: unknown): Json;
  /** Ids of the messages in a subgraph's input: all others are its result. */
  messageIds(name: string, input: unknown): ReadonlySet<string>;
  /** The result of a subgraph, always in the same fields, independent of the graph's own names. O(messages), bounded in size. */
  result(name: string, output: unknown, given: ReadonlySet<string>): JsonObject;
}

/** `shapes`: the keys of final states that graphs published, by the name of the node or subagent. */
export function createSubgraphStates(
  shapes: Readonly<Record<string, SubgraphShape>> | undefined,
): SubgraphStates {
  const shapeOf = (name: string): SubgraphShape =>
    shapes && Object.hasOwn(shapes, name) ? (shapes[name] ?? {}) : {};
  const messagesKey = (name: string) => shapeOf(name).messages ?? "messages";

  return {
    input(name, input) {
      const { value, isCut } = toPlainWithin(withPlainMessages(input, messagesKey(name)), MAX_STATE);
      const text = JSON.stringify(value);
      return isCut || text.length > MAX_STATE ? `${text.slice(0, MAX_STATE)}…` : value;
    },
    messageIds: (name, input) => new Set(idsOf(readArray(input, messagesKey(name)))),
    result(name, output, given) {
      const update = read(output, "lg_name") === "Command" ? read(output, "update") : output;
      const { files: filesKey = "files", output: outputKeys = [] } = shapeOf(name);
      const isNew = (raw: unknown) => !given.has(idOf(raw) ?? "");
      const fresh = readArray(update, messagesKey(name)).filter(isNew);
      const files = firstNames(namesOf(read(update, filesKey)));
      const shown = outputKeys.length === 0 ? {} : { output: outputOf(update, outputKeys) };
      const spent = JSON.stringify([files.names, shown]).length;
      const messages = lastMessages(fresh, MAX_STATE - spent);
      const omitted: JsonObject = {
        ...(messages.omitted > 0 && { messages: messages.omitted }),
        ...(files.omitted > 0 && { files: files.omitted }),
      };
      return {
        messages: messages.list,
        files: files.names,
        usage: usageOf(fresh),
        ...shown,
        ...(Object.keys(omitted).length > 0 && { omitted }),
      };
    },
  };
}

/** Converts the messages of a state to the log's form, as many as can be shown. */
function withPlainMessages(input: unknown, key: string): unknown {
  const raw = readArray(input, key);
  if (raw.length === 0) return input;
  const messages: Message[] = [];
  let left = MAX_STATE;
  for (const item of raw) {
    const message = toMessage(item);
    if (!message) continue;
    messages.push(message);
    left -= lengthOf(message);
    if (left < 0) break;
  }
  return { ...asRecord(input), [key]: messages };
}

/** Estimates a lower bound of a message's length as JSON, without writing it. */
function lengthOf({ content, tool_calls = [] }: Message): number {
  const calls = tool_calls.reduce((sum, call) => sum + call.args.length, 0);
  return calls + (typeof content === "string" ? content.length : content.length * 8) + 16;
}

function idOf(raw: unknown): string | undefined {
  return readString(raw, "id") ?? readString(read(raw, "kwargs"), "id");
}

function idsOf(messages: readonly unknown[]): string[] {
  return messages.flatMap((raw) => idOf(raw) ?? []);
}

function usageOf(messages: readonly unknown[]): JsonObject {
  let usage: TokenUsage = NO_USAGE;
  for (const raw of messages) {
    const message = readMessage(raw);
    if (message?.usage) usage = addUsage(usage, message.usage);
  }
  return { ...usage };
}

/** The newest messages that fit, in their order: a result is at the end. The newest is always included, cut where it is long. */
function lastMessages(
  raw: readonly unknown[],
  limit: number,
): { readonly list: Json[]; readonly omitted: number } {
  const list: Json[] = [];
  let left = limit;
  for (let index = raw.length - 1; index >= 0; index -= 1) {
    const message = toMessage(raw[index]);
    if (!message) continue;
    const { value, isCut } = toPlainWithin(message, left);
    const length = JSON.stringify(value).length;
    if (list.length > 0 && (isCut || length > left)) return { list, omitted: index + 1 };
    list.unshift(value);
    left -= length;
  }
  return { list, omitted: 0 };
}

/** Names of files, without their contents. Files are a record by path, or a list of paths or of objects that have one. */
function namesOf(files: unknown): readonly string[] {
  if (files instanceof Map) return [...files.keys()].map(String);
  if (!Array.isArray(files)) return Object.keys(asRecord(files) ?? {});
  return files.flatMap((file) => {
    if (typeof file === "string") return file;
    return readString(file, "path") ?? readString(file, "name") ?? [];
  });
}

function firstNames(names: readonly string[]): { readonly names: string[]; readonly omitted: number } {
  let left = MAX_FILES;
  const count = names.findIndex((name) => {
    left -= JSON.stringify(name).length + 1;
    return left < 0;
  });
  return count === -1
    ? { names: [...names], omitted: 0 }
    : { names: names.slice(0, count), omitted: names.length - count };
}

function outputOf(update: unknown, keys: readonly string[]): Json {
  const shown: { [key: string]: unknown } = {};
  for (const key of keys) shown[key] = read(update, key);
  const { value, isCut } = toPlainWithin(shown, MAX_OUTPUT);
  return isCut ? `${JSON.stringify(value).slice(0, MAX_OUTPUT)}…` : value;
}
