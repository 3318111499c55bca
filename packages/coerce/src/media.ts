import { ATTACHMENT_MARK, RAW_BYTES, readStoredBytes, type StoredBytes } from "@throughline/ai-core";
import { asRecord, asString, read, readString, type UnknownRecord } from "./read.js";

const MEDIA_KINDS = ["image", "audio", "video", "file"] as const;
export type MediaKind = (typeof MEDIA_KINDS)[number];

/** Bytes inside a block. */
export interface InlineBytes {
  readonly kind: "inline";
  /** Base64 after `prefix`, or the bytes themselves. */
  readonly data: string | Uint8Array;
  /** The text before the base64: none, `data:image/png;base64,`, or `RAW_BYTES` where `data` is no text. */
  readonly prefix: string;
  /** The id of the attachment with these bytes, where the block has it. */
  readonly attachmentId: string | undefined;
}

export type MediaSource =
  | InlineBytes
  | { readonly kind: "stored"; readonly stored: StoredBytes }
  | { readonly kind: "url"; readonly url: string };

/** The image, audio, video or file of a content block, independent of the block's form. */
export interface Media {
  readonly kind: MediaKind;
  /** In lower case and without parameters; the kind's most common one where the block has none. */
  readonly mimeType: string;
  readonly name: string | undefined;
  readonly source: MediaSource;
  /** The path of the source in the block. */
  readonly path: readonly string[];
  /**
   * Whether the block is a file wherever it is found. Otherwise it is one only within a message's content: an item of a
   * graph's state may have a `type` and a `data` of its own meaning.
   */
  readonly certain: boolean;
}

/** The path of the bytes or the URL in one form of block, with their type and name. */
interface Spot {
  readonly path: readonly string[];
  readonly mimeType?: unknown;
  readonly name?: unknown;
  /** Any text at this path is a URL; elsewhere it is base64. */
  readonly isUrl?: boolean;
  /** `false` where the block declares that the text at this path is no base64. */
  readonly onlyIf?: boolean;
}

/** Reads a media block; `undefined` for other values, at the cost of a few property reads: this runs for every object. */
export function readMedia(value: object): Media | undefined {
  const block = value as UnknownRecord;
  const spots = spotsOf(block);
  if (!spots) return undefined;
  for (const spot of spots) {
    const source = readSource(block, spot);
    if (!source) continue;
    const inPrefix = source.kind === "url" ? undefined : typeInPrefix(prefixOf(source));
    const declared = asString(spot.mimeType) ?? ownType(block) ?? inPrefix;
    const mimeType = declared === undefined ? undefined : plainType(declared);
    const isLong = hasLength(source, MIN_BASE64_LENGTH);
    if (!isLong && mimeType === undefined && !declaresBase64(block)) continue;
    const kind = kindOf(asString(block.type), mimeType);
    const name = readName(block, spot);
    return {
      kind,
      mimeType: mimeType ?? COMMON_TYPES[kind],
      name,
      source,
      path: spot.path,
      certain: source.kind !== "inline" || isDataUrl(source.prefix) || (isLong && mimeType !== undefined),
    };
  }
  return undefined;
}

const COMMON_TYPES: Readonly<Record<MediaKind, string>> = {
  image: "image/png",
  audio: "audio/wav",
  video: "video/mp4",
  file: "application/octet-stream",
};

/** The spots to try, the most likely first. */
function spotsOf(block: UnknownRecord): readonly Spot[] | undefined {
  switch (block.type) {
    // LangChain (v0, v1 in both languages), Anthropic (`source`), MCP, OpenAI's files (`file`).
    case "image":
    case "audio":
    case "video":
    case "file":
    case "document":
    case "media":
      return standardSpots(block);
    case "image_url":
    case "input_image":
      return [asRecord(block.image_url) ? urlAt("image_url", "url") : urlAt("image_url")];
    case "input_audio": {
      const format = readString(block.input_audio, "format");
      return [
        { path: ["input_audio", "data"], mimeType: format === undefined ? "audio/wav" : `audio/${format}` },
      ];
    }
    case "input_file":
      return [{ path: ["file_data"], isUrl: true }, urlAt("file_url")];
    case "image_generation_call":
      return [{ path: ["result"], mimeType: `image/${readString(block, "output_format") ?? "png"}` }];
    case "resource": {
      const { resource } = block;
      return [
        {
          path: ["resource", "blob"],
          mimeType: read(resource, "mimeType") ?? COMMON_TYPES.file,
          name: fileOf(read(resource, "uri")),
        },
      ];
    }
  }
  // Google's parts have no type.
  if (block.inlineData !== undefined) return inlineSpots("inlineData", read(block.inlineData, "mimeType"));
  if (block.inline_data !== undefined)
    return inlineSpots("inline_data", read(block.inline_data, "mime_type"));
  return undefined;
}

function standardSpots(block: UnknownRecord): readonly Spot[] {
  const { source, file } = block;
  if (asRecord(source)) {
    return [
      {
        path: ["source", "data"],
        mimeType: read(source, "media_type"),
        onlyIf: read(source, "type") === "base64",
      },
      urlAt("source", "url"),
    ];
  }
  if (asRecord(file)) return [{ path: ["file", "file_data"], isUrl: true, name: read(file, "filename") }];
  return [{ path: ["data"] }, { path: ["base64"] }, urlAt("url")];
}

function inlineSpots(key: string, mimeType: unknown): readonly Spot[] {
  return [{ path: [key, "data"], mimeType }];
}

function urlAt(...path: readonly string[]): Spot {
  return { path, isUrl: true };
}

function readSource(
  block: UnknownRecord,
  { path, isUrl = false, onlyIf = true }: Spot,
): MediaSource | undefined {
  const data = path.reduce<unknown>(read, block);
  if (data instanceof Uint8Array) {
    return { kind: "inline", data, prefix: RAW_BYTES, attachmentId: undefined };
  }
  if (typeof data !== "string" || data === "") return undefined;
  const stored = readStoredBytes(data);
  if (stored) return { kind: "stored", stored };
  if (!onlyIf) return undefined;
  const attachmentId = readString(block.metadata, ATTACHMENT_MARK);
  const [prefix] = /^data:(?=[\w.+-]+\/|;)[^,]{0,1024},/i.exec(data.slice(0, 1_100)) ?? [];
  if (prefix !== undefined) return { kind: "inline", data, prefix, attachmentId };
  if (isUrl) return { kind: "url", url: data };
  return looksLikeBase64(data) ? { kind: "inline", data, prefix: "", attachmentId } : undefined;
}

/** Shorter text is more likely a word, an id or a name. A picture of one dot has 56 characters, and declares its type. */
const MIN_BASE64_LENGTH = 64;
const JUDGED_LENGTH = 4_096;

const MAX_LINE_LENGTH = 76;
/** Mail's form, in lines of 60 to 76 characters: no text has lines without a space of just these lengths. */
const WRAPPED = /^[A-Za-z0-9+/]{60,76}\r?\n[A-Za-z0-9+/=\r\n]+$/;

/** Decides by a text's length, its beginning and its end: the whole may be megabytes. */
function looksLikeBase64(text: string): boolean {
  if (WRAPPED.test(text.slice(0, 2 * MAX_LINE_LENGTH))) return true;
  if (text.length % 4 !== 0) return false;
  const end = text.slice(-JUDGED_LENGTH);
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(end)) return false;
  return text.length === end.length || /^[A-Za-z0-9+/_-]*$/.test(text.slice(0, JUDGED_LENGTH - 2));
}

function hasLength(source: MediaSource, length: number): boolean {
  const isBareText = source.kind === "inline" && typeof source.data === "string" && !isDataUrl(source.prefix);
  return !isBareText || source.data.length >= length;
}

function isDataUrl(prefix: string): boolean {
  return /^data:/i.test(prefix);
}

/** Whether the block itself names the encoding. */
function declaresBase64({ source, source_type, base64 }: UnknownRecord): boolean {
  return source_type === "base64" || base64 !== undefined || readString(source, "type") === "base64";
}

function prefixOf(source: Exclude<MediaSource, { kind: "url" }>): string {
  return source.kind === "inline" ? source.prefix : (source.stored.prefix ?? "");
}

function typeInPrefix(prefix: string): string | undefined {
  const [, type] = /^data:([^;,]+)/i.exec(prefix) ?? [];
  return type;
}

function ownType({ mimeType, mime_type, media_type }: UnknownRecord): string | undefined {
  return asString(mimeType) ?? asString(mime_type) ?? asString(media_type);
}

/** Normalizes a MIME type; `undefined` for a text that is none. */
function plainType(declared: string): string | undefined {
  const type = (declared.split(";", 1)[0] ?? "").trim().toLowerCase();
  return /^[\w.+-]{1,127}\/[\w.+-]{1,127}$/.test(type) ? type : undefined;
}

function kindOf(type: string | undefined, mimeType: string | undefined): MediaKind {
  const family = mimeType?.split("/", 1)[0];
  const byType = MEDIA_KINDS.find((kind) => kind === family);
  if (byType) return byType;
  if (mimeType !== undefined) return "file";
  if (type === "image_url" || type === "input_image") return "image";
  return MEDIA_KINDS.find((kind) => kind === type) ?? "file";
}

const MAX_NAME_LENGTH = 255;

function readName(block: UnknownRecord, spot: Spot): string | undefined {
  const { metadata } = block;
  const given = [
    spot.name,
    read(metadata, "filename"),
    read(metadata, "name"),
    block.filename,
    block.name,
    block.title,
  ].find((name) => typeof name === "string" && name !== "");
  if (typeof given !== "string") return undefined;
  const name = given.replaceAll(/[\p{Cc}/\\]+/gu, " ").trim();
  return name === "" ? undefined : name.slice(0, MAX_NAME_LENGTH);
}

function fileOf(uri: unknown): string | undefined {
  return typeof uri === "string" ? uri.split(/[?#]/, 1)[0]?.split("/").at(-1) : undefined;
}
