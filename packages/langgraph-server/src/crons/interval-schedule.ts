const UNITS: ReadonlyMap<string, number> = new Map([
  ...["s", "sec", "second", "seconds"].map((name): [string, number] => [name, 1_000]),
  ...["m", "min", "minute", "minutes"].map((name): [string, number] => [name, 60_000]),
  ...["h", "hour", "hours"].map((name): [string, number] => [name, 3_600_000]),
  ...["d", "day", "days"].map((name): [string, number] => [name, 86_400_000]),
]);
const MAX_INTERVAL_MS = 366 * 86_400_000;

/** `every 10 s`, `every 5 minutes`, `every hour`: its milliseconds. `undefined` for any other text. */
export function parseInterval(text: string): number | undefined {
  const match = /^every\s+(?:(\d{1,8})\s*)?([a-z]+)$/i.exec(text.trim());
  const unit = UNITS.get(match?.[2]?.toLowerCase() ?? "");
  if (!match || unit === undefined) return undefined;
  const length = Number(match[1] ?? 1) * unit;
  return length >= 1 && length <= MAX_INTERVAL_MS ? length : undefined;
}

/** The first whole number of intervals from the anchor that is later than `at`. */
export function nextInterval(intervalMs: number, anchorAt: number, at: number): number {
  return anchorAt + Math.max(1, Math.floor((at - anchorAt) / intervalMs) + 1) * intervalMs;
}
