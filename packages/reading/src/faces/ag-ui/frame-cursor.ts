import type { LogPosition } from "@throughline/ai-core";

/** R12: which frame of which entry, and under which options it was made: other options number frames otherwise. */
export interface FrameCursor extends LogPosition {
  /** The frame's place among those of its entry, from 0. */
  readonly n: number;
  readonly face: string;
}

const PATTERN = /^([A-Za-z0-9_-]{1,64})\.(\d{1,15})\.(\d{1,9})\.([a-z0-9]{1,8})$/;

export function encodeFrameCursor({ epoch, seq, n, face }: FrameCursor): string {
  return `${epoch}.${seq}.${n}.${face}`;
}

/** `undefined` for anything this face did not mint: the caller answers with a full prelude, never a guess. */
export function parseFrameCursor(text: string): FrameCursor | undefined {
  const match = PATTERN.exec(text);
  const [, epoch, seq, n, face] = match ?? [];
  if (epoch === undefined || seq === undefined || n === undefined || face === undefined) return undefined;
  return { epoch, seq: Number(seq), n: Number(n), face };
}
