import { attachmentUrl, type ContentPart } from "@throughline/ai-core";
import { toAttachmentReference } from "./attachment-reference.js";
import { type Media, readMedia } from "./media.js";

/** The content part that references a stored file, the same for every form of the block. */
export function storedPart({ mimeType, name }: Media, id: string, bytes: number | undefined): ContentPart {
  return {
    type: ["image", "audio"].find((family) => mimeType.startsWith(`${family}/`)) ?? "file",
    source_type: "url",
    url: attachmentUrl(id),
    mime_type: mimeType,
    metadata: { ...(name !== undefined && { filename: name }), ...(bytes !== undefined && { bytes }) },
  };
}

/** The content part that replaces a file which is not stored, with the reason. */
export function unstoredPart({ mimeType, name }: Pick<Media, "mimeType" | "name">, why: string): ContentPart {
  return { type: "text", text: `[${name ?? mimeType}: ${why}]` };
}

/**
 * Converts a media block to one without bytes. The readers of a graph store its files before; a block that still has its
 * bytes here becomes a text. `undefined` for a block without bytes.
 */
export function withoutBytes(block: object, isInContent: () => boolean): object | undefined {
  const marked = toAttachmentReference(block);
  if (marked) return marked;
  const media = readMedia(block);
  switch (media?.source.kind) {
    case "stored": {
      const { id, bytes } = media.source.stored;
      // An address without a size is one of ours already.
      return bytes === undefined ? undefined : storedPart(media, id, bytes);
    }
    case "inline":
      if (!media.certain && !isInContent()) return undefined;
      return unstoredPart(media, "not stored");
    default:
      return undefined;
  }
}
