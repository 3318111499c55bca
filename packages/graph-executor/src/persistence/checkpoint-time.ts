const TICKS_PER_MS = 10_000n;
/** Milliseconds from the beginning of the Gregorian calendar, where ids count from, to 1970. */
const GREGORIAN_MS = 12_219_292_800_000n;
const UUID6 = /^([0-9a-f]{8})-([0-9a-f]{4})-6([0-9a-f]{3})-/;

/** When a checkpoint was made, by the wall clock of the process that made it; `undefined` where its id does not say. */
export function checkpointTime(id: string): number | undefined {
  const [, high, middle, low] = UUID6.exec(id) ?? [];
  if (high === undefined) return undefined;
  return Number(BigInt(`0x${high}${middle}${low}`) / TICKS_PER_MS - GREGORIAN_MS);
}
