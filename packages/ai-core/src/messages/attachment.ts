const URL_PREFIX = "throughline:attachment/";

/** Under the `metadata` of a media block that carries an attachment's bytes: its id, by which they are taken out again. */
export const ATTACHMENT_MARK = "throughline_attachment";

/** How messages name a stored attachment: its bytes are in no log entry, frame or row of a run. */
export function attachmentUrl(id: string): string {
  return `${URL_PREFIX}${id}`;
}

/** `undefined` for any other URL. */
export function attachmentIdOf(url: unknown): string | undefined {
  return readStoredBytes(url)?.id;
}

/** What stands in a checkpoint where a block had bytes, so that the block can be made again as the graph made it. */
export interface StoredBytes {
  readonly id: string;
  /** How many there are; `undefined` for an address that says no more than the id. */
  readonly bytes?: number | undefined;
  /** What stood before the base64: nothing, `data:image/png;base64,`, or `RAW_BYTES` for bytes that were no text. */
  readonly prefix?: string | undefined;
}

/** In place of a prefix: the block held a `Uint8Array`. */
export const RAW_BYTES = "raw";

/** `throughline:attachment/ID#BYTES,PREFIX`. */
export function storedBytesUrl({ id, bytes = 0, prefix = "" }: StoredBytes): string {
  return `${attachmentUrl(id)}#${bytes},${prefix}`;
}

/** `undefined` for anything but the address of an attachment. */
export function readStoredBytes(url: unknown): StoredBytes | undefined {
  if (typeof url !== "string" || !url.startsWith(URL_PREFIX)) return undefined;
  const [, id = "", bytes, prefix] = /^([^#]*)(?:#(\d+),(.*))?/s.exec(url.slice(URL_PREFIX.length)) ?? [];
  return { id, bytes: bytes === undefined ? undefined : Number(bytes), prefix };
}
