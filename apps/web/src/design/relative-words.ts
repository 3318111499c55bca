const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;

const day = new Intl.DateTimeFormat("en", { day: "numeric", month: "short" });

/** How long ago, or how soon, in as few letters as can be read at a glance: "now", "5 min", "in 10 s", "3 Feb". */
export function relativeWords(at: number, now: number): string {
  const distance = Math.abs(now - at);
  if (distance >= WEEK) return day.format(at);
  const amount = amountOf(distance, at > now);
  if (amount === undefined) return "now";
  return at > now ? `in ${amount}` : amount;
}

/** Counted in whole units that have passed, or, of what is to come, that are left: it is never "in 0 s". */
function amountOf(distance: number, isAhead: boolean): string | undefined {
  const count = isAhead ? Math.ceil : Math.floor;
  // What just happened is "now" for a while, so that nothing counts up in the corner of an eye.
  if (distance < (isAhead ? SECOND / 2 : 10 * SECOND)) return undefined;
  if (distance < MINUTE) return `${count(distance / SECOND)} s`;
  if (distance < HOUR) return `${count(distance / MINUTE)} min`;
  if (distance < DAY) return `${count(distance / HOUR)} h`;
  return `${count(distance / DAY)} d`;
}

/** How long the words stay true. */
export function wordsChangeAfter(at: number, now: number): number {
  const distance = Math.abs(now - at);
  if (distance < 2 * MINUTE) return SECOND;
  return distance < 2 * HOUR ? 15 * SECOND : 10 * MINUTE;
}
