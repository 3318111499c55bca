export interface VirtualWindow {
  /** The first row to draw. */
  readonly start: number;
  /** Behind the last row to draw. */
  readonly end: number;
}

interface Surroundings {
  readonly scrollTop: number;
  readonly height: number;
  readonly rowHeight: number;
  readonly count: number;
}

/** Rows beyond what is seen, so that a quick wheel shows no blank. */
const BEYOND = 4;
/** Two lists of these beside each other stay below 80 rows, on however tall a screen. */
const MAX_ROWS = 38;

/** Which of many rows of one height are drawn. Never more than 38, whatever it is told. */
export function virtualWindow({ scrollTop, height, rowHeight, count }: Surroundings): VirtualWindow {
  const seen = Math.ceil(Math.max(0, height) / rowHeight) + 1;
  const length = Math.min(count, MAX_ROWS, seen + 2 * BEYOND);
  const first = Math.floor(Math.max(0, scrollTop) / rowHeight) - BEYOND;
  const start = Math.max(0, Math.min(first, count - length));
  return { start, end: start + length };
}
