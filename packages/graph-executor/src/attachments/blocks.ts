import {
  ATTACHMENT_MARK,
  type AttachmentOwner,
  type AttachmentPort,
  attachmentIdOf,
  type EmbeddedFile,
  type StoredBytes,
  storedBytesUrl,
} from "@throughline/ai-core";
import { type InlineMedia, type Media, read, readMedia } from "@throughline/coerce";
import { rememberFile, restoreMedia } from "./files.js";

type Block = { readonly type: string; readonly [key: string]: unknown };

/** The id a media block names; `undefined` for any other value. */
export function namedAttachment(value: unknown): string | undefined {
  return read(value, "source_type") === "url" ? attachmentIdOf(read(value, "url")) : undefined;
}

/**
 * A block with its bytes, as models accept it, and the mark by which the stream and the saver replace them again. A file that
 * can't be read becomes a text part: a model given an address it can't open would fail the whole run.
 */
export async function loadAttachmentBlock(
  reference: object,
  id: string,
  owner: AttachmentOwner,
  attachments: Pick<AttachmentPort, "readAttachment">,
): Promise<Block> {
  const content = await attachments.readAttachment(owner, id);
  const filename = read(read(reference, "metadata"), "filename");
  if (!content || content === "too_large") return inWords(filename, content);
  return {
    type: String(read(reference, "type")),
    source_type: "base64",
    mime_type: read(reference, "mime_type"),
    data: Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString("base64"),
    // OpenAI's models refuse a file without a name.
    metadata: { filename: "file", ...Object(read(reference, "metadata")), [ATTACHMENT_MARK]: id },
  };
}

function inWords(filename: unknown, content: "too_large" | undefined): Block {
  const name = typeof filename === "string" ? filename : "A file";
  const why = content ? "is too large to be read with the other files" : "is no longer stored";
  return { type: "text", text: `[${name} ${why}]` };
}

/** A block whose bytes a checkpoint holds by their address. */
export interface StoredBlock {
  readonly media: Media;
  readonly stored: StoredBytes & { readonly bytes: number };
}

/** `undefined` for any other value. */
export function storedBlock(value: object): StoredBlock | undefined {
  const media = readMedia(value);
  if (media?.source.kind !== "stored") return undefined;
  const { id, bytes, prefix } = media.source.stored;
  return bytes === undefined ? undefined : { media, stored: { id, bytes, prefix } };
}

/** A block as a checkpoint stores it: the same, but with an address in place of its bytes. */
export function withoutItsBytes(media: InlineMedia, block: object, { id, bytes }: EmbeddedFile): object {
  return withSource(block, media.path, storedBytesUrl({ id, bytes, prefix: media.source.prefix }));
}

/** The block as its graph made it; a text part where its bytes can't be read. */
export async function withItsBytes(
  block: object,
  { media, stored }: StoredBlock,
  owner: AttachmentOwner,
  attachments: Pick<AttachmentPort, "readAttachment">,
): Promise<object> {
  const content = await attachments.readAttachment(owner, stored.id);
  if (!content || content === "too_large") return inWords(media.name, content);
  const data = restoreMedia(content, stored.prefix ?? "");
  const restored = withSource(block, media.path, data);
  const file = { id: stored.id, mimeType: media.mimeType, filename: media.name, bytes: stored.bytes };
  rememberFile(restored, data, { ...file, content: () => [content] });
  return restored;
}

function withSource(block: object, path: readonly string[], source: unknown): object {
  const [key = "", ...rest] = path;
  const inner = read(block, key);
  const next =
    rest.length === 0 ? source : withSource(typeof inner === "object" && inner ? inner : {}, rest, source);
  return { ...block, [key]: next };
}
