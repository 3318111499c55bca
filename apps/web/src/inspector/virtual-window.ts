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
/** More than the tallest screen shows: a pane that reports a height out of all reason still draws few. */
const MAX_ROWS = 200;

/** Which of many rows of one height are drawn: all that are seen, and never more than 200. */
export function virtualWindow({ scrollTop, height, rowHeight, count }: Surroundings): VirtualWindow {
  const seen = Math.ceil(Math.max(0, height) / rowHeight) + 1;
  const length = Math.min(count, MAX_ROWS, seen + 2 * BEYOND);
  const first = Math.floor(Math.max(0, scrollTop) / rowHeight) - BEYOND;
  const start = Math.max(0, Math.min(first, count - length));
  return { start, end: start + length };
}
