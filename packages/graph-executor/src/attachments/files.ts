import { createHash } from "node:crypto";
import { attachmentIdOf, type EmbeddedFile, RAW_BYTES, type StorageRefusal } from "@throughline/ai-core";
import {
  type InlineBytes,
  type InlineMedia,
  read,
  readString,
  replaceMedia,
  storedPart,
  toAttachmentReference,
  unstoredPart,
} from "@throughline/coerce";

/** Hash of type and content, so that the same file has the same id everywhere. */
export function attachmentIdHash(mimeType: string) {
  return createHash("sha256").update(`${mimeType}\n`);
}

interface Named {
  readonly data: string | Uint8Array;
  readonly file: EmbeddedFile;
}

/** A graph passes its objects on many times: each is hashed once, unless what is in it was exchanged. */
const named = new WeakMap<object, Named>();

/** The file in a block, named by a hash of its content. */
export function nameFile(media: InlineMedia, block: object): EmbeddedFile {
  const known = named.get(block);
  const { source, mimeType, name } = media;
  if (known?.data === source.data) return known.file;
  const hash = attachmentIdHash(mimeType);
  let bytes = 0;
  for (const chunk of mediaBytes(source)) {
    hash.update(chunk);
    bytes += chunk.byteLength;
  }
  const file = {
    id: hash.digest("base64url"),
    mimeType,
    filename: name,
    bytes,
    content: () => mediaBytes(source),
  };
  named.set(block, { data: source.data, file });
  return file;
}

/** The file that a block's bytes were read from: it need not be hashed to be known again. */
export function rememberFile(block: object, data: string | Uint8Array, file: EmbeddedFile): void {
  named.set(block, { data, file });
}

export interface TakeOptions {
  /** Values that were searched before and had no files. */
  readonly clean?: WeakSet<object>;
  /** The reason why a file may not be stored: a text part replaces it then. */
  readonly refusal?: (file: EmbeddedFile) => StorageRefusal;
}

/** Extracts files: returns the value with an address in place of each file, and the files. */
export function extractFiles(
  value: unknown,
  { clean, refusal }: TakeOptions = {},
): { readonly value: unknown; readonly files: readonly EmbeddedFile[] } {
  const files = new Map<string, EmbeddedFile>();
  const withoutFiles = replaceMedia(
    value,
    (media, block) => {
      const marked = toAttachmentReference(block);
      if (marked) return marked;
      const file = nameFile(media, block);
      if (file.bytes === 0) return undefined;
      const why = refusal?.(file);
      if (why !== undefined) return unstoredPart(media, why);
      files.set(file.id, file);
      return storedPart(media, file.id, file.bytes);
    },
    clean,
  );
  return { value: withoutFiles, files: [...files.values()] };
}

/** Replaces references to files that were not stored by text parts, in messages or a state. */
export function dropUnstored<Value>(value: Value, refusal: (id: string) => StorageRefusal): Value {
  const text = JSON.stringify(value, (_, item: unknown) => {
    const id = attachmentIdOf(read(item, "url"));
    const why = id === undefined ? undefined : refusal(id);
    if (why === undefined) return item;
    const name = readString(read(item, "metadata"), "filename");
    return unstoredPart({ mimeType: readString(item, "mime_type") ?? "file", name }, why);
  });
  return JSON.parse(text);
}

/** Characters of base64 that are decoded at once: a multiple of four. */
const SLICE = 262_144;

/** The bytes of a block, decoded piece by piece, so that no more than a piece of them is held. */
function* mediaBytes({ data, prefix }: Pick<InlineBytes, "data" | "prefix">): Generator<Uint8Array> {
  if (typeof data !== "string") {
    yield data;
    return;
  }
  if (prefix !== "" && !isBase64Prefix(prefix)) {
    yield new TextEncoder().encode(decodePercents(data.slice(prefix.length)));
    return;
  }
  for (let at = prefix.length; at < data.length; at += SLICE) {
    const slice = data.slice(at, at + SLICE);
    const bytes = Buffer.from(slice, "base64");
    // If white space shifts the groups of four, only the whole text can be decoded.
    if (bytes.length !== decodedLength(slice)) {
      yield Buffer.from(data.slice(at), "base64");
      return;
    }
    yield bytes;
  }
}

/**
 * The text or bytes that a block had, from its stored bytes. `undefined` for a prefix that is none of ours. `isExact` checks
 * before storing whether this restores the block byte for byte.
 */
export function restoreMedia(bytes: Uint8Array, prefix: string): string | Uint8Array {
  if (prefix === RAW_BYTES) return Uint8Array.from(bytes);
  return prefix + Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

/** Whether the block's data is what `restoreMedia` makes of its bytes: base64 has more than one spelling. */
export function isExact({ data, prefix }: Pick<InlineBytes, "data" | "prefix">): boolean {
  if (typeof data !== "string") return true;
  if (prefix !== "" && !isBase64Prefix(prefix)) return false;
  if ((data.length - prefix.length) % 4 !== 0) return false;
  for (let at = prefix.length; at < data.length; at += SLICE) {
    const isLast = at + SLICE >= data.length;
    const pattern = isLast ? /^[A-Za-z0-9+/]*={0,2}$/ : /^[A-Za-z0-9+/]*$/;
    if (!pattern.test(data.slice(at, at + SLICE))) return false;
  }
  // The last letter has bits to spare, which a decoder drops.
  const end = data.slice(-4);
  return Buffer.from(end, "base64").toString("base64") === end;
}

/** The number of bytes in pure base64 text. */
function decodedLength(slice: string): number {
  const padding = slice.endsWith("==") ? 2 : slice.endsWith("=") ? 1 : 0;
  return Math.floor(((slice.length - padding) * 3) / 4);
}

function isBase64Prefix(prefix: string): boolean {
  return /;base64,$/i.test(prefix);
}

function decodePercents(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
