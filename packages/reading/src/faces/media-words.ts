import { type ContentPart, type PayloadOf, readStoredBytes } from "@throughline/ai-core";
import { type Media, readMedia, textOfPart } from "@throughline/coerce";

/** Maps an attachment's id to the URL where clients fetch it. */
export type FileUrl = (attachmentId: string) => string;

/** Converts a message's URL to one that a client can fetch; only URLs of attachments change. */
export function fetchable(url: string, fileUrl: FileUrl | undefined): string {
  const id = fileUrl && readStoredBytes(url)?.id;
  return id === undefined ? url : (fileUrl?.(id) ?? url);
}

/**
 * Renders a content as the text that protocols have for assistants and tools: media are Markdown, which clients of models
 * show, in paragraphs of their own. The texts of the parts add up to that of the whole, so streamed pieces equal the snapshot.
 */
export function contentText(content: string | readonly ContentPart[], fileUrl?: FileUrl): string {
  if (typeof content === "string") return content;
  return content.map((part) => partText(part, fileUrl)).join("");
}

/** The text that a token adds to its message; `undefined` for a token of another kind. */
export function wordsOf({ text, part }: PayloadOf<"llm_token">, fileUrl?: FileUrl): string | undefined {
  return part === undefined ? text : partText(part, fileUrl);
}

/** Converts a part to a file that a client can fetch; `undefined` for text, and for media without an address. */
export function fileOf(part: ContentPart, fileUrl?: FileUrl): FileAddress | undefined {
  const media = part.type === "text" ? undefined : readMedia(part);
  const url = media && addressOf(part, media.path);
  if (!media || url === undefined) return undefined;
  return { url: fetchable(url, fileUrl), mimeType: media.mimeType, name: media.name, kind: media.kind };
}

export interface FileAddress {
  readonly url: string;
  readonly mimeType: string;
  readonly name: string | undefined;
  readonly kind: Media["kind"];
}

function partText(part: ContentPart, fileUrl?: FileUrl): string {
  if (part.type === "text") return typeof part.text === "string" ? part.text : "";
  const file = fileOf(part, fileUrl);
  if (!file) return textOfPart(part) || JSON.stringify(part);
  const name = (file.name ?? file.mimeType).replaceAll(/[[\]\\]/g, "\\$&");
  return `\n\n${file.kind === "image" ? "!" : ""}[${name}](${file.url})\n\n`;
}

function addressOf(part: ContentPart, path: readonly string[]): string | undefined {
  let value: unknown = part;
  for (const key of path)
    value = typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
  // Bytes are in no frame.
  return typeof value === "string" && !/^data:/i.test(value) ? value : undefined;
}
