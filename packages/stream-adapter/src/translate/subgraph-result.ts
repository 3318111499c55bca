import type { JsonObject } from "@throughline/ai-core";
import { addUsage, NO_USAGE, type TokenUsage } from "@throughline/ai-core";
import { isJsonObject, read, readArray, readMessage, toMessage, toPlain } from "@throughline/coerce";

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
