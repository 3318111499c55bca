import type { JsonObject } from "@throughline/ai-core";
import { isJsonObject } from "../../design/is-json-object";

type Content = string | readonly JsonObject[];

export interface AttachedFile {
  readonly kind: "image" | "audio" | "video" | "document";
  /** Of the service's own store; else `url` says where it lies. */
  readonly id: string | undefined;
  readonly url: string | undefined;
  readonly mimeType: string | undefined;
  readonly filename: string | undefined;
}

const ATTACHMENT = "throughline:attachment/";
const KINDS = ["image", "audio", "video", "document"] as const;

export function contentFiles(content: Content): readonly AttachedFile[] {
  if (typeof content === "string") return [];
  return content.flatMap((part) => (part.type === "text" ? [] : [fileOf(part)]));
}

/** The id behind the address of an attachment. */
export function attachmentIdOf(url: string): string | undefined {
  return url.startsWith(ATTACHMENT) ? url.slice(ATTACHMENT.length) : undefined;
}

/** Files of the thread that a tool's answer shows: the protocol has only text for them, so they stand in it as Markdown. */
export function filesInText(text: string): readonly AttachedFile[] {
  return [...text.matchAll(/(!?)\[((?:\\.|[^\]\\])*)\]\(throughline:attachment\/([\w-]+)\)/g)].map(
    ([, mark, name = "", id]) => ({
      kind: mark === "!" ? "image" : "document",
      id,
      url: undefined,
      mimeType: undefined,
      filename: name.replaceAll(/\\(.)/g, "$1"),
    }),
  );
}

function fileOf(part: JsonObject): AttachedFile {
  const source = isJsonObject(part.source) ? part.source : part;
  const mimeType = textOf(part.mimeType) ?? textOf(source.mimeType);
  const url = textOf(source.value) ?? textOf(source.url);
  const metadata = isJsonObject(part.metadata) ? part.metadata : {};
  return {
    kind:
      KINDS.find((kind) => kind === part.type) ??
      KINDS.find((kind) => mimeType?.startsWith(kind)) ??
      "document",
    id: (url && attachmentIdOf(url)) ?? textOf(part.id),
    url: url && attachmentIdOf(url) === undefined ? url : undefined,
    mimeType,
    filename: textOf(part.filename) ?? textOf(metadata.filename) ?? textOf(source.filename),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
