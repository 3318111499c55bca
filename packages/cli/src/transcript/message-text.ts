import type { MessageView } from "@throughline/agent-client";
import type { JsonObject } from "@throughline/ai-core";
import { z } from "zod";

/** A message as text: files by their names, and where they lie. */
export function textOf(content: MessageView["content"] | undefined): string {
  if (typeof content === "string") return content;
  return (content ?? []).map(textOfPart).join("\n");
}

const partSchema = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  source: z.looseObject({ type: z.string(), value: z.string().optional() }).optional(),
  metadata: z.looseObject({ filename: z.string().optional() }).nullish(),
});

/** A file is shown as in the texts of assistants and tools. */
function textOfPart(part: JsonObject): string {
  const read = partSchema.safeParse(part).data;
  if (!read) return "";
  const { type, text, source, metadata } = read;
  if (text !== undefined) return text;
  const name = metadata?.filename ?? type;
  return source?.type === "url" && source.value !== undefined ? `[${name}](${source.value})` : `[${name}]`;
}
