/** A time as a clock of that zone shows it. */
export function timeWords(at: string, timeZone: string, withSeconds: boolean): string {
  return new Intl.DateTimeFormat("en", {
    weekday: "short",
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
    ...(withSeconds && { second: "2-digit" }),
    hourCycle: "h23",
    timeZone,
  }).format(new Date(at));
}
