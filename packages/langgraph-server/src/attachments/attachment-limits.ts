import { ThroughlineError } from "@throughline/ai-core";
import type { StorageCaps } from "./attachment-store.js";

const MEDIA_KINDS = ["image", "audio", "video", "document"] as const;
type MediaKind = (typeof MEDIA_KINDS)[number];

/** Of one file by what it is, of all files of a thread and of an account, and of those a run is given. */
export interface AttachmentLimits extends StorageCaps {
  readonly maxImageBytes: number;
  readonly maxAudioBytes: number;
  readonly maxVideoBytes: number;
  readonly maxDocumentBytes: number;
  /** What one run's messages may bring along as bytes; past that a file is named in words. */
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

/** A file that a graph made may be of any type: nothing but its size is checked. */
export function madeType(mimeType: string): AcceptedType {
  const family = mimeType.split("/", 1)[0];
  const kind = KINDS.get(mimeType) ?? MEDIA_KINDS.find((each) => each === family) ?? "document";
  return { mimeType, kind };
}

/** What a browser is told a file is: of a type that it could run, nothing is said. */
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

/** The refusal of a file that does not fit beside what is stored. */
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
