/** More than this many times a day is no list of times any more. */
const MAX_TIMES = 24;

/**
 * Cron's old promise about clock changes is that a job with a set time of day runs once on such a day. croner keeps it for
 * one time per pattern; of `30 2,14 * * *` it would leave out or double half. So a pattern that lists its times is taken
 * apart into one pattern per time. Everything with a `*` or a step among its times stays whole: that is a rhythm.
 */
export function splitFixedTimes(pattern: string): readonly string[] {
  const parts = pattern.trim().split(/\s+/);
  const hasSeconds = parts.length > 5;
  const times = parts.slice(0, hasSeconds ? 3 : 2).map(valuesOf);
  const dates = parts.slice(hasSeconds ? 3 : 2).join(" ");
  let combined: readonly string[] = [""];
  for (const values of times) {
    if (!values) return [pattern];
    combined = combined.flatMap((before) => values.map((value) => `${before}${value} `));
    if (combined.length > MAX_TIMES) return [pattern];
  }
  return combined.map((time) => `${time}${dates}`);
}

/** `2,14` and `9-11` as their values, `undefined` for what is no list of numbers. */
function valuesOf(field: string): readonly number[] | undefined {
  const values: number[] = [];
  for (const part of field.split(",")) {
    const match = /^(\d{1,2})(?:-(\d{1,2}))?$/.exec(part);
    if (!match) return undefined;
    const from = Number(match[1]);
    const to = Number(match[2] ?? match[1]);
    // croner itself says what is wrong with it.
    if (to < from) return undefined;
    for (let value = from; value <= to; value += 1) values.push(value);
  }
  return [...new Set(values)];
}
