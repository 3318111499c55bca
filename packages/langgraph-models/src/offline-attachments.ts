import { type BaseMessage, HumanMessage } from "@langchain/core/messages";

/** What came with the newest human message, in words: name, type and size of each file that arrived with its bytes. */
export function describeAttachments(messages: readonly BaseMessage[]): string {
  const newest = messages.findLast((message) => HumanMessage.isInstance(message));
  if (!newest || typeof newest.content === "string") return "";
  return newest.content.flatMap((block) => describeBlock(block)).join(", ");
}

function describeBlock(block: { readonly [key: string]: unknown }): readonly string[] {
  const { source_type: source, mime_type: type, data, metadata } = block;
  if (source !== "base64" || typeof data !== "string") return [];
  const name =
    typeof metadata === "object" && metadata !== null && "filename" in metadata
      ? metadata.filename
      : "a file";
  return [`${String(name)} (${String(type)}, ${Buffer.from(data, "base64").length} bytes)`];
}
