const URL_PREFIX = "throughline:attachment/";

/** Under the `metadata` of a media block that carries an attachment's bytes: its id, by which they are taken out again. */
export const ATTACHMENT_MARK = "throughline_attachment";

/** How messages name a stored attachment: its bytes are in no log entry, frame or row of a run. */
export function attachmentUrl(id: string): string {
  return `${URL_PREFIX}${id}`;
}

/** `undefined` for any other URL. */
export function attachmentIdOf(url: unknown): string | undefined {
  return typeof url === "string" && url.startsWith(URL_PREFIX) ? url.slice(URL_PREFIX.length) : undefined;
}
