import { attachmentIdOf, attachmentUrl, type ContentPart, ThroughlineError } from "@throughline/ai-core";
import type { Attachment, StorageCaps } from "./attachment-store.js";

const MEDIA_KINDS = ["image", "audio", "video", "document"] as const;
type MediaKind = (typeof MEDIA_KINDS)[number];

/** Size limits: of one file by its kind, of all files of a thread and of an account, and of those a run gets. */
export interface AttachmentLimits extends StorageCaps {
  readonly maxImageBytes: number;
  readonly maxAudioBytes: number;
  readonly maxVideoBytes: number;
  readonly maxDocumentBytes: number;
  /** Bytes of files that one run's messages may carry; past that a text part replaces a file. */
  readonly maxAttachmentBytesPerRun: number;
  /** The same of all runs of an instance together; past that a run waits for others to end. */
  readonly maxAttachmentBytesInRuns: number;
}

const MIB = 1_048_576;

export const DEFAULT_ATTACHMENT_LIMITS: AttachmentLimits = {
  maxImageBytes: 10 * MIB,
  maxAudioBytes: 25 * MIB,
  maxVideoBytes: 50 * MIB,
  maxDocumentBytes: 20 * MIB,
  maxAttachmentBytesPerThread: 200 * MIB,
  maxAttachmentBytesPerAccount: 5 * 1_024 * MIB,
  maxAttachmentBytesPerRun: 64 * MIB,
  maxAttachmentBytesInRuns: 512 * MIB,
};

const LIMIT_OF = {
  image: "maxImageBytes",
  audio: "maxAudioBytes",
  video: "maxVideoBytes",
  document: "maxDocumentBytes",
} as const satisfies Record<MediaKind, keyof AttachmentLimits>;

const OFFICE_TYPES = "application/vnd.openxmlformats-officedocument";

/** Nothing that a browser would run: no HTML, no SVG, no script. */
const KINDS: ReadonlyMap<string, MediaKind> = new Map([
  ...["png", "jpeg", "gif", "webp"].map((type) => [`image/${type}`, "image"] as const),
  ...["wav", "mp3", "mpeg", "mp4", "aac", "ogg", "webm", "flac"].map(
    (type) => [`audio/${type}`, "audio"] as const,
  ),
  ...["mp4", "webm", "mpeg", "quicktime"].map((type) => [`video/${type}`, "video"] as const),
  ...["text/plain", "text/markdown", "text/csv", "application/json", "application/pdf"].map(
    (type) => [type, "document"] as const,
  ),
  ...["wordprocessingml.document", "spreadsheetml.sheet", "presentationml.presentation"].map(
    (type) => [`${OFFICE_TYPES}.${type}`, "document"] as const,
  ),
]);

export const ATTACHABLE_TYPES: readonly string[] = [...KINDS.keys()];

/** The same type under the names that browsers give it. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ["image/jpg", "image/jpeg"],
  ["audio/x-wav", "audio/wav"],
  ["audio/wave", "audio/wav"],
  ["audio/x-m4a", "audio/mp4"],
  ["audio/m4a", "audio/mp4"],
]);

export interface AcceptedType {
  readonly mimeType: string;
  readonly kind: MediaKind;
}

/** Throws `invalid_input` for a type that can't be attached, naming the field. */
export function acceptType(declared: string, field: string): AcceptedType {
  const plain = (declared.split(";")[0] ?? "").trim().toLowerCase();
  const mimeType = ALIASES.get(plain) ?? plain;
  const kind = KINDS.get(mimeType);
  if (kind) return { mimeType, kind };
  const allowed = [...ATTACHABLE_TYPES];
  throw new ThroughlineError(
    "invalid_input",
    `${field}: this type of file can't be attached. There is: ${allowed.join(", ")}`,
    { details: { field, allowed } },
  );
}

/** A file that a graph made may be of any type: nothing but its size is checked. */
export function generatedType(mimeType: string): AcceptedType {
  const family = mimeType.split("/", 1)[0];
  const kind = KINDS.get(mimeType) ?? MEDIA_KINDS.find((each) => each === family) ?? "document";
  return { mimeType, kind };
}

/** The content type a file is served with: none of the types that a browser could execute. */
export function servedType(mimeType: string): string {
  return KINDS.has(mimeType) ? mimeType : "application/octet-stream";
}

/** Throws `too_large` naming the field and the limit. */
export function checkSize(
  bytes: number,
  { kind }: Pick<AcceptedType, "kind">,
  limits: AttachmentLimits,
  field: string,
): void {
  const limit = LIMIT_OF[kind];
  if (bytes > limits[limit]) throw tooLarge(field, `is larger than one ${kind} may be`, limit, limits);
}

/** The refusal of a file that does not fit next to what is stored. */
export function capRefusal(
  cap: keyof StorageCaps,
  limits: AttachmentLimits,
  field: string,
): ThroughlineError {
  const whose = cap === "maxAttachmentBytesPerThread" ? "this thread" : "this account";
  return tooLarge(field, `is more than ${whose} may store with all it has; delete some first`, cap, limits);
}

function tooLarge(
  field: string,
  why: string,
  limit: keyof AttachmentLimits,
  { [limit]: max }: AttachmentLimits,
): ThroughlineError {
  return new ThroughlineError("too_large", `${field}: ${why} (${limit}, ${max} bytes)`, {
    details: { field, limit, max },
  });
}

interface Signature {
  readonly offset?: number;
  readonly hex: string;
  /** The beginning of every type that files of this kind may be sent as. */
  readonly types: readonly string[];
  readonly name: string;
}

const OFFICE_SIGNATURES = "application/vnd.openxmlformats-officedocument";

/** Signatures of file kinds. Text files have none. */
const SIGNATURES: readonly Signature[] = [
  { hex: "89504e470d0a1a0a", types: ["image/png"], name: "a PNG image" },
  { hex: "ffd8ff", types: ["image/jpeg"], name: "a JPEG image" },
  { hex: "474946383761", types: ["image/gif"], name: "a GIF image" },
  { hex: "474946383961", types: ["image/gif"], name: "a GIF image" },
  { offset: 8, hex: "57454250", types: ["image/webp"], name: "a WebP image" },
  { offset: 8, hex: "57415645", types: ["audio/wav"], name: "a WAV file" },
  { hex: "664c6143", types: ["audio/flac", "audio/ogg"], name: "a FLAC file" },
  { hex: "4f676753", types: ["audio/", "video/"], name: "an Ogg file" },
  { hex: "1a45dfa3", types: ["audio/", "video/"], name: "a WebM file" },
  { offset: 4, hex: "66747970", types: ["audio/", "video/"], name: "an MP4 file" },
  { hex: "255044462d", types: ["application/pdf"], name: "a PDF document" },
  { hex: "504b0304", types: [OFFICE_SIGNATURES], name: "a ZIP archive" },
];

/** Throws `invalid_input` where a file begins as one of another kind than it was sent as. `start`: its first bytes. */
export function checkSignature(start: Uint8Array, { mimeType }: AcceptedType, field: string): void {
  const bytes = Buffer.from(start.buffer, start.byteOffset, Math.min(start.byteLength, 16));
  const found = SIGNATURES.find(({ offset = 0, hex }) =>
    bytes.subarray(offset).toString("hex").startsWith(hex),
  );
  if (!found || found.types.some((type) => mimeType.startsWith(type))) return;
  throw new ThroughlineError(
    "invalid_input",
    `${field}: begins as ${found.name} but was sent as ${mimeType}. Send it as what it is.`,
    { details: { field } },
  );
}

/** A part of a message that carries or names a file, in the form LangChain's models take. */
export interface MediaBlock extends ContentPart {
  /** LangChain knows no video: it is a file of such a type. */
  readonly type: "image" | "audio" | "file";
  readonly source_type: "base64" | "url";
  readonly mime_type?: string;
  readonly data?: string;
  readonly url?: string;
  readonly metadata?: { readonly filename?: string; readonly bytes?: number };
}

const FAMILIES = ["image", "audio"] as const;

export function blockTypeOf(mimeType: string): MediaBlock["type"] {
  return FAMILIES.find((family) => mimeType.startsWith(`${family}/`)) ?? "file";
}

/** The block that messages store: with an address in place of the bytes. */
export function referenceTo(attachment: Attachment, filename = attachment.filename): MediaBlock {
  return {
    type: blockTypeOf(attachment.mimeType),
    source_type: "url",
    url: attachmentUrl(attachment.id),
    mime_type: attachment.mimeType,
    metadata: { ...(filename !== undefined && { filename }), bytes: attachment.bytes },
  };
}

/** Bytes in a message that came from a client. */
export function inlineBytes(
  part: ContentPart,
): { readonly data: string; readonly mimeType: string } | undefined {
  if (part.source_type !== "base64" || typeof part.data !== "string") return undefined;
  return { data: part.data, mimeType: typeof part.mime_type === "string" ? part.mime_type : "" };
}

export function referencedId(part: ContentPart): string | undefined {
  return part.source_type === "url" ? attachmentIdOf(part.url) : undefined;
}

export function filenameOf(part: ContentPart): string | undefined {
  const { metadata } = part;
  if (typeof metadata !== "object" || metadata === null || !("filename" in metadata)) return undefined;
  return typeof metadata.filename === "string" ? metadata.filename : undefined;
}
