export interface CursorPlace {
  readonly epoch: string;
  readonly seq: number;
}

/** Where in the log a cursor points, for showing it and for telling an entry that came twice. */
export function cursorPlace(cursor: string | undefined): CursorPlace | undefined {
  const [epoch, seq] = cursor?.split(".") ?? [];
  if (epoch === undefined || seq === undefined || !/^\d+$/.test(seq)) return undefined;
  return { epoch, seq: Number(seq) };
}
