import { createHash } from "node:crypto";
import { ThroughlineError } from "@throughline/ai-core";

const MEDIA_KINDS = ["image", "audio", "video", "document"] as const;
export type MediaKind = (typeof MEDIA_KINDS)[number];

export interface AttachmentLimits {
  /** Of one file, by what it is. */
  readonly maxBytes: Readonly<Record<MediaKind, number>>;
  /** Of all files of a thread. */
  readonly maxThreadBytes: number;
}

const MB = 1_048_576;

export const DEFAULT_ATTACHMENT_LIMITS: AttachmentLimits = {
  maxBytes: { image: 10 * MB, audio: 25 * MB, video: 50 * MB, document: 20 * MB },
  maxThreadBytes: 200 * MB,
};

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

/** Throws `too_large` naming the field. */
export function checkSize(
  bytes: number,
  { kind }: AcceptedType,
  { maxBytes }: AttachmentLimits,
  field: string,
): void {
  if (bytes > maxBytes[kind]) throw tooLarge(field, `is larger than a ${kind} may be`, maxBytes[kind]);
}

export function tooLarge(field: string, why: string, maxBytes: number): ThroughlineError {
  return new ThroughlineError("too_large", `${field}: ${why} (${maxBytes} bytes)`, {
    details: { field, maxBytes },
  });
}

export function attachmentId(mimeType: string, content: Uint8Array): string {
  return createHash("sha256").update(`${mimeType}\n`).update(content).digest("base64url");
}
