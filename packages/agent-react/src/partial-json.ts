import type { Json } from "@throughline/ai-core";

/**
 * JSON text as far as it has come: what is open is closed, and what can't be read yet is left out. `undefined` while nothing can
 * be read. O(length of the text).
 */
export function readPartialJson(text: string): Json | undefined {
  const whole = parsed(text);
  if (whole !== undefined) return whole;
  const closers: string[] = [];
  /** The longest beginning that is whole once it is closed. */
  let safe = "";
  let isKey = false;
  let isText = false;
  /** Where the last escape of the text that is open begins. */
  let escapeAt = -1;

  function keep(length: number): void {
    safe = text.slice(0, length) + closers.join("");
  }

  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (isText) {
      if (char === "\\") {
        escapeAt = at;
        at += 1;
      } else if (char === '"') {
        isText = false;
        if (!isKey) keep(at + 1);
      }
      continue;
    }
    switch (char) {
      case '"':
        isText = true;
        escapeAt = -1;
        break;
      case "{":
      case "[":
        closers.unshift(char === "{" ? "}" : "]");
        isKey = char === "{";
        keep(at + 1);
        break;
      case "}":
      case "]":
        closers.shift();
        keep(at + 1);
        break;
      case ",":
        keep(at);
        isKey = closers[0] === "}";
        break;
      case ":":
        isKey = false;
        break;
    }
  }
  const rest = isText ? `${text.slice(0, cutEscape(text, escapeAt))}"` : text;
  const open = isText && isKey ? undefined : parsed(rest + closers.join(""));
  return open ?? parsed(safe);
}

/** An escape that has not come whole is left out. */
function cutEscape(text: string, escapeAt: number): number {
  const length = text[escapeAt + 1] === "u" ? 6 : 2;
  return escapeAt >= 0 && escapeAt + length > text.length ? escapeAt : text.length;
}

function parsed(text: string): Json | undefined {
  try {
    const value: Json = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}
