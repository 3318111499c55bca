const URL_PREFIX = "throughline:attachment/";

/** The key in the `metadata` of a media block with an attachment's bytes: its value is the id, by which they are replaced again. */
export const ATTACHMENT_MARK = "throughline_attachment";

/** The URL of a stored attachment in messages: its bytes are in no log entry, frame or row of a run. */
export function attachmentUrl(id: string): string {
  return `${URL_PREFIX}${id}`;
}

/** `undefined` for any other URL. */
export function attachmentIdOf(url: unknown): string | undefined {
  return readStoredBytes(url)?.id;
}

/** The reference that replaces a block's bytes in a checkpoint, with all that is needed to restore the block exactly. */
export interface StoredBytes {
  readonly id: string;
  /** The number of bytes; `undefined` for a URL with the id only. */
  readonly bytes?: number | undefined;
  /** The text before the base64: none, `data:image/png;base64,`, or `RAW_BYTES` for bytes that were no text. */
  readonly prefix?: string | undefined;
}

/** The prefix of a block that held a `Uint8Array`. */
export const RAW_BYTES = "raw";

/** `throughline:attachment/ID#BYTES,PREFIX`. */
export function storedBytesUrl({ id, bytes = 0, prefix = "" }: StoredBytes): string {
  return `${attachmentUrl(id)}#${bytes},${prefix}`;
}

/** Parses the URL of an attachment; `undefined` for any other value. */
export function readStoredBytes(url: unknown): StoredBytes | undefined {
  if (typeof url !== "string" || !url.startsWith(URL_PREFIX)) return undefined;
  const [, id = "", bytes, prefix] = /^([^#]*)(?:#(\d+),(.*))?/s.exec(url.slice(URL_PREFIX.length)) ?? [];
  return { id, bytes: bytes === undefined ? undefined : Number(bytes), prefix };
}
