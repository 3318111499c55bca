import { attachmentUrl, type ContentPart } from "@throughline/ai-core";
import { toAttachmentReference } from "./attachment-reference.js";
import { type Media, readMedia } from "./media.js";

/** A stored file as messages name it, whichever spelling the block had. */
export function storedPart({ mimeType, name }: Media, id: string, bytes: number | undefined): ContentPart {
  return {
    type: ["image", "audio"].find((family) => mimeType.startsWith(`${family}/`)) ?? "file",
    source_type: "url",
    url: attachmentUrl(id),
    mime_type: mimeType,
    metadata: { ...(name !== undefined && { filename: name }), ...(bytes !== undefined && { bytes }) },
  };
}

/** In place of a file that is not stored, and why. */
export function unstoredPart({ mimeType, name }: Pick<Media, "mimeType" | "name">, why: string): ContentPart {
  return { type: "text", text: `[${name ?? mimeType}: ${why}]` };
}

/**
 * A media block as it may be told: without bytes. Whatever reads a graph names the files in it before; a block that still
 * has its bytes here is named in words. `undefined` for what has none to begin with.
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
