import { attachmentIdOf, attachmentUrl, type ContentPart } from "@throughline/ai-core";
import type { Attachment } from "./attachment-store.js";

/** A part of a message that carries or names a file, in the form LangChain's models take. */
export interface MediaBlock extends ContentPart {
  /** LangChain knows no video: it is a file of such a type. */
  readonly type: "image" | "audio" | "file";
  readonly source_type: "base64" | "url";
  readonly mime_type?: string;
  readonly data?: string;
  readonly url?: string;
  readonly metadata?: { readonly filename?: string; readonly bytes?: number };
}

const FAMILIES = ["image", "audio"] as const;

export function blockTypeOf(mimeType: string): MediaBlock["type"] {
  return FAMILIES.find((family) => mimeType.startsWith(`${family}/`)) ?? "file";
}

/** As messages keep it: with an address in place of the bytes. */
export function referenceTo(attachment: Attachment, filename = attachment.filename): MediaBlock {
  return {
    type: blockTypeOf(attachment.mimeType),
    source_type: "url",
    url: attachmentUrl(attachment.id),
    mime_type: attachment.mimeType,
    metadata: { ...(filename !== undefined && { filename }), bytes: attachment.bytes },
  };
}

/** Bytes in a message that came from a client. */
export function inlineBytes(
  part: ContentPart,
): { readonly data: string; readonly mimeType: string } | undefined {
  if (part.source_type !== "base64" || typeof part.data !== "string") return undefined;
  return { data: part.data, mimeType: typeof part.mime_type === "string" ? part.mime_type : "" };
}

export function referencedId(part: ContentPart): string | undefined {
  return part.source_type === "url" ? attachmentIdOf(part.url) : undefined;
}

export function filenameOf(part: ContentPart): string | undefined {
  const { metadata } = part;
  if (typeof metadata !== "object" || metadata === null || !("filename" in metadata)) return undefined;
  return typeof metadata.filename === "string" ? metadata.filename : undefined;
}
