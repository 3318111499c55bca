import type { Json, JsonObject } from "@throughline/ai-core";
import { addUsage, NO_USAGE, type TokenUsage } from "@throughline/ai-core";
import { isJsonObject, read, readArray, readMessage, toMessage, toPlain } from "@throughline/coerce";

/** In characters of JSON: a state may be large, and is told elsewhere. */
const MAX_INPUT = 4_000;

/** What a subgraph was given, messages as the log has them. Where that is long, the beginning of it, as text. */
export function subgraphInput(input: unknown): Json {
  const raw = readArray(input, "messages");
  const plain = toPlain(input);
  const told: Json =
    raw.length > 0 && isJsonObject(plain)
      ? { ...plain, messages: toPlain(raw.map(toMessage).filter((message) => message !== undefined)) }
      : plain;
  const text = JSON.stringify(told);
  return text.length <= MAX_INPUT ? told : `${text.slice(0, MAX_INPUT)}…`;
}

/** What a subgraph leaves behind, always in the same three fields, however the graph named its own. */
export function subgraphResult(output: unknown): JsonObject {
  const update = read(output, "lg_name") === "Command" ? read(output, "update") : output;
  const raw = readArray(update, "messages");
  const files = toPlain(read(update, "files") ?? {});
  let usage: TokenUsage = NO_USAGE;
  for (const item of raw) {
    const message = readMessage(item);
    if (message?.usage) usage = addUsage(usage, message.usage);
  }
  const messages = raw.map(toMessage).filter((message) => message !== undefined);
  return { messages: toPlain(messages), files: isJsonObject(files) ? files : {}, usage: { ...usage } };
}
