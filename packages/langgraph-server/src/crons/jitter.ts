import { createHash } from "node:crypto";

/** Below `limitMs`. The same for the same tick wherever it is computed, so that instances agree on when it is due. */
export function jitterOf(cronId: string, scheduledAt: number, limitMs: number): number {
  if (limitMs <= 0) return 0;
  const hash = createHash("sha256").update(`${cronId}:${scheduledAt}`).digest();
  return Math.floor((hash.readUInt32BE(0) / 2 ** 32) * limitMs);
}
