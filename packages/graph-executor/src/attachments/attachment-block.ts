import {
  ATTACHMENT_MARK,
  type AttachmentOwner,
  type AttachmentPort,
  attachmentIdOf,
} from "@throughline/ai-core";
import { read } from "@throughline/coerce";

/** The id a media block names; `undefined` for any other value. */
export function namedAttachment(value: unknown): string | undefined {
  return read(value, "source_type") === "url" ? attachmentIdOf(read(value, "url")) : undefined;
}

/**
 * A block with its bytes, as models take it, and the mark by which whatever tells of the graph takes them out again. What
 * is not there to be read is said in words: a model given an address it can't open would fail the whole run.
 */
export async function withBytes(
  reference: object,
  id: string,
  owner: AttachmentOwner,
  attachments: AttachmentPort,
): Promise<{ readonly type: string; readonly [key: string]: unknown }> {
  const content = await attachments.readAttachment(owner, id);
  const filename = read(read(reference, "metadata"), "filename");
  if (!content || content === "too_large") {
    const name = typeof filename === "string" ? filename : "A file";
    const why = content ? "is too large to be read with the other files" : "is no longer stored";
    return { type: "text", text: `[${name} ${why}]` };
  }
  return {
    type: String(read(reference, "type")),
    source_type: "base64",
    mime_type: read(reference, "mime_type"),
    data: Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString("base64"),
    // OpenAI's models refuse a file without a name.
    metadata: { filename: "file", ...Object(read(reference, "metadata")), [ATTACHMENT_MARK]: id },
  };
}
