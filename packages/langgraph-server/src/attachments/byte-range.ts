/** A range of a file: from `start` on, before `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Parses a `range` header (RFC 9110): one part of the file, `undefined` for all of it, or a part that the file does not
 * have. Several parts at once, other units and invalid ranges get the whole file, as the RFC allows.
 */
export function parseRange(
  header: string | undefined,
  bytes: number,
): ByteRange | undefined | "unsatisfiable" {
  const found = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? "");
  const [, first = "", last = ""] = found ?? [];
  if (first === "" && last === "") return undefined;
  if (first === "") {
    const length = Math.min(Number(last), bytes);
    return length === 0 ? "unsatisfiable" : { start: bytes - length, end: bytes };
  }
  const start = Number(first);
  const end = last === "" ? bytes : Math.min(Number(last) + 1, bytes);
  if (last !== "" && Number(last) < start) return undefined;
  return start >= bytes ? "unsatisfiable" : { start, end };
}

export function wholeFile(bytes: number): ByteRange {
  return { start: 0, end: bytes };
}
