import { type ContentPart, type PayloadOf, readStoredBytes } from "@throughline/ai-core";
import { readMedia } from "@throughline/coerce";

/** Where a client fetches an attachment. */
export type FileUrl = (attachmentId: string) => string;

/** A URL of a message as a client may use it; any but an attachment's is what it is. */
export function fetchable(url: string, fileUrl: FileUrl | undefined): string {
  const id = fileUrl && readStoredBytes(url)?.id;
  return id === undefined ? url : (fileUrl?.(id) ?? url);
}

/**
 * A content as the text that protocols have for assistants and tools: media are Markdown, which clients of models show, in a
 * paragraph of their own. The words of parts in a row are those of the whole, so streamed pieces add up to the snapshot.
 */
export function contentWords(content: string | readonly ContentPart[], fileUrl?: FileUrl): string {
  if (typeof content === "string") return content;
  return content.map((part) => partWords(part, fileUrl)).join("");
}

/** What a token adds to its message's text; `undefined` for a token of another kind. */
export function wordsOf({ text, part }: PayloadOf<"llm_token">, fileUrl?: FileUrl): string | undefined {
  return part === undefined ? text : partWords(part, fileUrl);
}

function partWords(part: ContentPart, fileUrl?: FileUrl): string {
  if (part.type === "text") return typeof part.text === "string" ? part.text : "";
  const media = readMedia(part);
  const url = media && addressOf(part, media.path);
  if (!media || url === undefined) return JSON.stringify(part);
  const name = (media.name ?? media.mimeType).replaceAll(/[[\]\\]/g, "\\$&");
  return `\n\n${media.kind === "image" ? "!" : ""}[${name}](${fetchable(url, fileUrl)})\n\n`;
}

function addressOf(part: ContentPart, path: readonly string[]): string | undefined {
  let value: unknown = part;
  for (const key of path)
    value = typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
  // Bytes are in no frame.
  return typeof value === "string" && !/^data:/i.test(value) ? value : undefined;
}
