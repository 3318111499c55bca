import { RAW_BYTES } from "@throughline/ai-core";
import type { InlineBytes } from "@throughline/coerce";

/** Characters of base64 that are decoded at once: a multiple of four. */
const SLICE = 262_144;

/** The bytes of a block, decoded piece by piece, so that no more than a piece of them is held. */
export function* mediaBytes({ data, prefix }: Pick<InlineBytes, "data" | "prefix">): Generator<Uint8Array> {
  if (typeof data !== "string") {
    yield data;
    return;
  }
  if (prefix !== "" && !isBase64Prefix(prefix)) {
    yield new TextEncoder().encode(decodePercents(data.slice(prefix.length)));
    return;
  }
  for (let at = prefix.length; at < data.length; at += SLICE) {
    const slice = data.slice(at, at + SLICE);
    const bytes = Buffer.from(slice, "base64");
    // Where white space shifts the groups of four, only all of it together can be decoded.
    if (bytes.length !== decodedLength(slice)) {
      yield Buffer.from(data.slice(at), "base64");
      return;
    }
    yield bytes;
  }
}

/**
 * The text or bytes that stood in a block, from what was stored of it. `undefined` for a prefix that is none of ours.
 * Whether it is what stood there to the letter, `isExact` says before it is stored.
 */
export function restoreMedia(bytes: Uint8Array, prefix: string): string | Uint8Array {
  if (prefix === RAW_BYTES) return Uint8Array.from(bytes);
  return prefix + Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

/** Whether the block's data is what `restoreMedia` makes of its bytes: base64 has more than one spelling. */
export function isExact({ data, prefix }: Pick<InlineBytes, "data" | "prefix">): boolean {
  if (typeof data !== "string") return true;
  if (prefix !== "" && !isBase64Prefix(prefix)) return false;
  if ((data.length - prefix.length) % 4 !== 0) return false;
  for (let at = prefix.length; at < data.length; at += SLICE) {
    const isLast = at + SLICE >= data.length;
    const pattern = isLast ? /^[A-Za-z0-9+/]*={0,2}$/ : /^[A-Za-z0-9+/]*$/;
    if (!pattern.test(data.slice(at, at + SLICE))) return false;
  }
  // The last letter has bits to spare, which a decoder drops.
  const end = data.slice(-4);
  return Buffer.from(end, "base64").toString("base64") === end;
}

/** Of text that is nothing but base64. */
function decodedLength(slice: string): number {
  const padding = slice.endsWith("==") ? 2 : slice.endsWith("=") ? 1 : 0;
  return Math.floor(((slice.length - padding) * 3) / 4);
}

function isBase64Prefix(prefix: string): boolean {
  return /;base64,$/i.test(prefix);
}

function decodePercents(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
