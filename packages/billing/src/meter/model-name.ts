const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = new Set([0x7b, 0x5b]);
const CLOSE = new Set([0x7d, 0x5d]);
const COLON = 0x3a;

/** Matches paths that name the model instead of the body: `/openai/deployments/{model}/chat/completions`. */
const IN_PATH = /\/(?:deployments|engines)\/([^/]+)\//;

/** The model that a request names; `null` where it names none. */
export function modelOfRequest(pathname: string, body: unknown): string | null {
  const inPath = IN_PATH.exec(pathname)?.[1];
  if (inPath !== undefined) return decode(inPath);
  if (typeof body === "string") return topLevelModel(body);
  if (body instanceof Uint8Array) return topLevelModel(new TextDecoder().decode(body));
  return null;
}

/**
 * Reads the `model` of a JSON object without parsing the rest, which may be megabytes of pictures: strings are skipped by
 * `indexOf`. Of repeated keys the last counts, as in Python's and JavaScript's parsers.
 */
export function topLevelModel(json: string): string | null {
  let depth = 0;
  let model: string | null = null;
  let key: string | undefined;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(json, at);
      if (end < 0) return null;
      if (depth === 1 && nextCode(json, end + 1) === COLON) {
        key = parseString(json.slice(at, end + 1));
        if (key === "model") model = null;
      } else if (depth === 1) {
        if (key === "model") model = parseString(json.slice(at, end + 1));
        key = undefined;
      }
      at = end;
    } else if (OPEN.has(code)) {
      if (depth === 1) key = undefined;
      depth += 1;
    } else if (CLOSE.has(code)) {
      depth -= 1;
    }
  }
  return model;
}

function endOfString(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end >= 0; end = json.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (json.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return -1;
}

function nextCode(json: string, from: number): number {
  let at = from;
  while (at < json.length && json.charCodeAt(at) <= 0x20) at += 1;
  return json.charCodeAt(at);
}

function parseString(literal: string): string {
  if (!literal.includes("\\")) return literal.slice(1, -1);
  try {
    return String(JSON.parse(literal));
  } catch {
    return literal.slice(1, -1);
  }
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
