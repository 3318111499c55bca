/** A checkpoint's id as LangGraph makes it when a wall clock shows this time. */
export function idAt(ms: number): string {
  const ticks = ((BigInt(ms) + 12_219_292_800_000n) * 10_000n).toString(16).padStart(15, "0");
  return `${ticks.slice(0, 8)}-${ticks.slice(8, 12)}-6${ticks.slice(12)}-8000-000000000001`;
}
