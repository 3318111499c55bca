import { createHash } from "node:crypto";
import { ThroughlineError } from "@throughline/ai-core";

const MEDIA_KINDS = ["image", "audio", "video", "document"] as const;
type MediaKind = (typeof MEDIA_KINDS)[number];

/** Of one file by what it is, and of all files of a thread. */
export interface AttachmentLimits {
  readonly maxImageBytes: number;
  readonly maxAudioBytes: number;
  readonly maxVideoBytes: number;
  readonly maxDocumentBytes: number;
  readonly maxAttachmentBytesPerThread: number;
}

const MIB = 1_048_576;

export const DEFAULT_ATTACHMENT_LIMITS: AttachmentLimits = {
  maxImageBytes: 10 * MIB,
  maxAudioBytes: 25 * MIB,
  maxVideoBytes: 50 * MIB,
  maxDocumentBytes: 20 * MIB,
  maxAttachmentBytesPerThread: 200 * MIB,
};

const LIMIT_OF = {
  image: "maxImageBytes",
  audio: "maxAudioBytes",
  video: "maxVideoBytes",
  document: "maxDocumentBytes",
} as const satisfies Record<MediaKind, keyof AttachmentLimits>;

const OFFICE = "application/vnd.openxmlformats-officedocument";

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
    (type) => [`${OFFICE}.${type}`, "document"] as const,
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

/** Of the files that the thread has and the one that comes. */
export function checkThreadSize(bytes: number, limits: AttachmentLimits, field: string): void {
  const limit = "maxAttachmentBytesPerThread";
  if (bytes > limits[limit])
    throw tooLarge(field, "is more than this thread may hold with all it has", limit, limits);
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

export function attachmentId(mimeType: string, content: Uint8Array): string {
  return createHash("sha256").update(`${mimeType}\n`).update(content).digest("base64url");
}
