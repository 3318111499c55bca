import { createHash } from "node:crypto";
import { attachmentIdOf, type FoundFile, type NotKept } from "@throughline/ai-core";
import {
  type InlineMedia,
  read,
  readString,
  replaceMedia,
  storedPart,
  toAttachmentReference,
  unstoredPart,
} from "@throughline/coerce";
import { mediaBytes } from "./media-bytes.js";

/** Of type and content, so that the same file has the same id wherever it is named. */
export function attachmentIdHash(mimeType: string) {
  return createHash("sha256").update(`${mimeType}\n`);
}

interface Named {
  readonly data: string | Uint8Array;
  readonly file: FoundFile;
}

/** A graph passes its objects on many times: each is hashed once, unless what is in it was exchanged. */
const named = new WeakMap<object, Named>();

/** The file in a block, by the name that its content gives it. */
export function nameFile(media: InlineMedia, block: object): FoundFile {
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
export function rememberFile(block: object, data: string | Uint8Array, file: FoundFile): void {
  named.set(block, { data, file });
}

export interface TakeOptions {
  /** What is in it was searched before and had no files. */
  readonly clean?: WeakSet<object>;
  /** Why a file may not be stored: it is named in words then. */
  readonly refusal?: (file: FoundFile) => NotKept;
}

/** A value as it may be told, with an address in place of each file, and the files. */
export function takeFiles(
  value: unknown,
  { clean, refusal }: TakeOptions = {},
): { readonly value: unknown; readonly files: readonly FoundFile[] } {
  const files = new Map<string, FoundFile>();
  const told = replaceMedia(
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
  return { value: told, files: [...files.values()] };
}

/** Messages or a state that name files which came not to be stored: those are named in words. */
export function withoutUnstored<Value>(value: Value, refusal: (id: string) => NotKept): Value {
  const text = JSON.stringify(value, (_, item: unknown) => {
    const id = attachmentIdOf(read(item, "url"));
    const why = id === undefined ? undefined : refusal(id);
    if (why === undefined) return item;
    const name = readString(read(item, "metadata"), "filename");
    return unstoredPart({ mimeType: readString(item, "mime_type") ?? "file", name }, why);
  });
  return JSON.parse(text);
}
