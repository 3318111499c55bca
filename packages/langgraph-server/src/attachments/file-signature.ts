import { ThroughlineError } from "@throughline/ai-core";
import type { AcceptedType } from "./attachment-limits.js";

interface Signature {
  readonly offset?: number;
  readonly hex: string;
  /** The beginning of every type that files of this kind may be sent as. */
  readonly types: readonly string[];
  readonly name: string;
}

const OFFICE = "application/vnd.openxmlformats-officedocument";

/** How files of a kind begin. Texts have no beginning of their own. */
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
  { hex: "504b0304", types: [OFFICE], name: "a ZIP archive" },
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
