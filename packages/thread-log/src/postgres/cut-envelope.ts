/** Joins what is stored in pieces. JSON never holds it unescaped. */
export const UNIT_SEPARATOR = "\u001f";

/** An envelope's text, cut where its neighbours differ: the parts lie before, between and behind the holes. */
export interface CutEnvelope {
  readonly parts: readonly string[];
  readonly holes: readonly string[];
}

const OWN_HOLES = new Set(["ts", "seq"]);
/** Keys of a payload whose text neighbours share. */
const SHARED_KEY = /(?:^|_)id$|^(?:name|kind|role|type)$/;

const QUOTE = 34;
const COMMA = 44;
const BACKSLASH = 92;
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125] as const;

/**
 * Cuts by the text alone, so that the pieces always join to the same text again. Holes are `ts`, `seq` and, of the payload's own
 * values, the numbers and what is neither an id nor a name. Expects what `JSON.stringify` writes: no white space. O(length).
 */
export function cutEnvelope(text: string): CutEnvelope {
  const parts: string[] = [];
  const holes: string[] = [];
  let from = 0;
  const cut = (start: number, end: number) => {
    parts.push(text.slice(from, start));
    holes.push(text.slice(start, end));
    from = end;
  };
  eachMember(text, 0, (key, start) => {
    if (key === "payload" && text.charCodeAt(start) === OPEN_OBJECT) {
      return eachMember(text, start, (inner, innerStart) => {
        const end = skipValue(text, innerStart);
        if (isPayloadHole(inner, text.charCodeAt(innerStart))) cut(innerStart, end);
        return end;
      });
    }
    const end = skipValue(text, start);
    if (OWN_HOLES.has(key)) cut(start, end);
    return end;
  });
  parts.push(text.slice(from));
  return { parts, holes };
}

/**
 * The holes of a text between these parts; `undefined` when they are not its parts. Several times as fast as to cut it. The
 * holes may be others than a cut would give, and still join to the same text.
 */
export function fitEnvelope(text: string, parts: readonly string[]): string[] | undefined {
  const first = parts[0] ?? "";
  if (!text.startsWith(first)) return undefined;
  const holes: string[] = [];
  let from = first.length;
  for (let n = 1; n < parts.length; n++) {
    const part = parts[n] ?? "";
    const isLast = n === parts.length - 1;
    const at = isLast ? text.length - part.length : text.indexOf(part, from);
    if (at < from || (isLast && !text.endsWith(part))) return undefined;
    holes.push(text.slice(from, at));
    from = at + part.length;
  }
  return from === text.length ? holes : undefined;
}

export function joinEnvelope(parts: readonly string[], holes: readonly string[]): string {
  let text = parts[0] ?? "";
  for (let i = 0; i < holes.length; i++) text += `${holes[i]}${parts[i + 1] ?? ""}`;
  return text;
}

function isPayloadHole(key: string, first: number): boolean {
  const isText = first === QUOTE || first === OPEN_OBJECT || first === OPEN_ARRAY;
  return isText ? !SHARED_KEY.test(key) : first === 45 || (first >= 48 && first <= 57);
}

/** Visits the members of the object that begins at `at`; `visit` gives the end of the value. Gives the end of the object. */
function eachMember(text: string, at: number, visit: (key: string, start: number) => number): number {
  let next = at + 1;
  while (text.charCodeAt(next) === QUOTE) {
    const keyEnd = skipString(text, next);
    const end = visit(text.slice(next + 1, keyEnd - 1), keyEnd + 1);
    if (text.charCodeAt(end) !== COMMA) return end + 1;
    next = end + 1;
  }
  return next + 1;
}

function skipValue(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (first === QUOTE) return skipString(text, start);
  let at = start;
  let depth = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = skipString(text, at);
      continue;
    }
    if (code === OPEN_OBJECT || code === OPEN_ARRAY) depth += 1;
    else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      if (depth === 0) return at;
      depth -= 1;
      if (depth === 0) return at + 1;
    } else if (code === COMMA && depth === 0) return at;
    at += 1;
  }
  return at;
}

function skipString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return end + 1;
  }
  return text.length;
}
