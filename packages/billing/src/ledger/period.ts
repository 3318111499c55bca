export const PERIODS = ["day", "month"] as const;
/** A period of a budget, in UTC as statements are. */
export type Period = (typeof PERIODS)[number];

export function periodStart(period: Period, now: number): number {
  const at = new Date(now);
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), period === "day" ? at.getUTCDate() : 1);
}

/** The first moment of the next one. */
export function periodEnd(period: Period, now: number): number {
  const at = new Date(now);
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()];
  return period === "day" ? Date.UTC(year, month, at.getUTCDate() + 1) : Date.UTC(year, month + 1, 1);
}
