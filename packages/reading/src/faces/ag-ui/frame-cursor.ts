import type { LogPosition } from "@throughline/ai-core";

/** R12: identifies a frame of an entry, and the encoder's options: frames are numbered differently under other options. */
export interface FrameCursor extends LogPosition {
  /** The frame's index among those of its entry, from 0. */
  readonly n: number;
  readonly face: string;
}

const PATTERN = /^([A-Za-z0-9_-]{1,64})\.(\d{1,15})\.(\d{1,9})\.([a-z0-9]{1,8})$/;

export function encodeFrameCursor({ epoch, seq, n, face }: FrameCursor): string {
  return `${epoch}.${seq}.${n}.${face}`;
}

/** Parses a cursor; `undefined` for anything this encoder did not write: the caller then sends a snapshot, never a guess. */
export function parseFrameCursor(text: string): FrameCursor | undefined {
  const match = PATTERN.exec(text);
  const [, epoch, seq, n, face] = match ?? [];
  if (epoch === undefined || seq === undefined || n === undefined || face === undefined) return undefined;
  return { epoch, seq: Number(seq), n: Number(n), face };
}
