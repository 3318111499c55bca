/** In words short enough for a row: `0.3 s`, `12 s`, `4 min 8 s`, `2 h 5 min`. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, seconds);
  if (whole < 0.1) return "<0.1 s";
  if (whole < 10) return `${whole.toFixed(1)} s`;
  if (whole < 60) return `${Math.floor(whole)} s`;
  if (whole < 3_600) return join(Math.floor(whole / 60), "min", Math.floor(whole % 60), "s");
  return join(Math.floor(whole / 3_600), "h", Math.floor((whole % 3_600) / 60), "min");
}

function join(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;
}
