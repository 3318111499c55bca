import type { LogPosition } from "@throughline/ai-core";

/**
 * R3: where a reader stands. `frame` counts the frames of one entry that it has seen, when it was cut in the middle of them;
 * `face` names the options the frames were made under, because they mean nothing under others (R12).
 */
export interface Cursor extends LogPosition {
  readonly frame?: number | undefined;
  readonly face?: string | undefined;
}

/** `none`: the reader holds nothing. `start`: it asks for everything. `unreadable`: answered with a gap, never with a guess. */
export type ParsedCursor =
  | { readonly kind: "none" }
  | { readonly kind: "start" }
  | { readonly kind: "at"; readonly cursor: Cursor }
  | { readonly kind: "unreadable" };

const VERSION = "1";
const EPOCH = /^[A-Za-z0-9_-]{1,64}$/;
const FACE = /^[A-Za-z0-9_-]{1,64}$/;
/** Canonical decimals only: two spellings of one position would be two cursors. */
const NATURAL = /^(0|[1-9][0-9]{0,15})$/;
const MAX_LENGTH = 200;

/** Safe in a header, a URL and an SSE `id`: no space, no colon, no line end. */
export function formatCursor(cursor: Cursor): string {
  const parts = [VERSION, cursor.epoch, String(cursor.seq), String(cursor.frame ?? 0), cursor.face ?? ""];
  const text = parts.join(".");
  if (parseCursor(text).kind !== "at") {
    throw new RangeError(`Not a position the log mints: ${JSON.stringify(cursor)}`);
  }
  return text;
}

export function parseCursor(text: string | null | undefined): ParsedCursor {
  if (text === undefined || text === null || text === "") return { kind: "none" };
  if (text === "-1") return { kind: "start" };
  if (text.length > MAX_LENGTH) return { kind: "unreadable" };
  const parts = text.split(".");
  const [version, epoch, seq, frame, face] = parts;
  if (parts.length !== 5 || version !== VERSION || epoch === undefined || !EPOCH.test(epoch)) {
    return { kind: "unreadable" };
  }
  const position = natural(seq);
  const frames = natural(frame);
  if (position === undefined || frames === undefined || face === undefined) return { kind: "unreadable" };
  if (face !== "" && !FACE.test(face)) return { kind: "unreadable" };
  return {
    kind: "at",
    cursor: {
      epoch,
      seq: position,
      ...(frames > 0 ? { frame: frames } : {}),
      ...(face === "" ? {} : { face }),
    },
  };
}

function natural(text: string | undefined): number | undefined {
  if (text === undefined || !NATURAL.test(text)) return undefined;
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : undefined;
}
