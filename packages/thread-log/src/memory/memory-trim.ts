import { type MemoryThread, newestSnapshot } from "./memory-database.js";

export interface MemoryTrim {
  readonly through: number;
  readonly maxTerminals: number;
}

/**
 * The steps of a trim, in order. A database that is interrupted has performed the first few of them; the next trim of the thread
 * performs the others, because each deletes whatever is below the floor.
 */
export const TRIM_STEPS: readonly ((row: MemoryThread, trim: MemoryTrim) => void)[] = [
  raiseFloor,
  deleteEntries,
  deleteTerminals,
  deleteSnapshots,
];

/** Not past the newest snapshot, and not into what was merged: a merged entry goes as a whole or stays. */
function raiseFloor(row: MemoryThread, { through }: MemoryTrim): void {
  const wanted = Math.min(through, newestSnapshot(row));
  const cut = row.entries.findLast(({ seq }) => seq <= wanted)?.seq ?? 0;
  if (cut < row.floor) return;
  row.floor = cut + 1;
  row.heldBytes = row.entries.reduce((sum, { seq, bytes }) => (seq >= row.floor ? sum + bytes : sum), 0);
}

function deleteEntries(row: MemoryThread): void {
  row.entries = row.entries.filter(({ seq, endOfRun }) => seq >= row.floor || endOfRun !== undefined);
}

function deleteTerminals(row: MemoryThread, { maxTerminals }: MemoryTrim): void {
  const terminals = row.entries.filter(({ seq, endOfRun }) => seq < row.floor && endOfRun !== undefined);
  const deleted = new Set(maxTerminals > 0 ? terminals.slice(0, -maxTerminals) : terminals);
  row.entries = row.entries.filter((entry) => !deleted.has(entry));
}

function deleteSnapshots(row: MemoryThread): void {
  for (const [version, snapshots] of row.snapshots) {
    row.snapshots.set(
      version,
      snapshots.filter(({ position }) => position.seq + 1 >= row.floor),
    );
  }
}
