/** `2026-11`, in UTC, as statements are. */
export function monthOf(now: number): string {
  return new Date(now).toISOString().slice(0, 7);
}

export function shiftMonth(month: string, by: number): string {
  const first = new Date(`${month}-01T00:00:00.000Z`);
  return monthOf(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + by));
}

export function monthWords(month: string): string {
  const words = new Intl.DateTimeFormat("en", { month: "long", year: "numeric", timeZone: "UTC" });
  return words.format(Date.parse(`${month}-01T00:00:00.000Z`));
}
