import { ATTACHMENT_MARK, attachmentUrl } from "@throughline/ai-core";
import { read } from "./read.js";

/**
 * Converts a media block with a stored attachment's bytes back to the reference it was made from; `undefined` for anything
 * else. A graph needs the bytes; events and state of the graph must not contain them.
 */
export function toAttachmentReference(block: object): object | undefined {
  if (read(block, "source_type") !== "base64") return undefined;
  const id = read(read(block, "metadata"), ATTACHMENT_MARK);
  if (typeof id !== "string") return undefined;
  const metadata = Object.entries(Object(read(block, "metadata"))).filter(([key]) => key !== ATTACHMENT_MARK);
  const mimeType = read(block, "mime_type");
  return {
    type: read(block, "type"),
    source_type: "url",
    url: attachmentUrl(id),
    ...(mimeType !== undefined && { mime_type: mimeType }),
    ...(metadata.length > 0 && { metadata: Object.fromEntries(metadata) }),
  };
}
