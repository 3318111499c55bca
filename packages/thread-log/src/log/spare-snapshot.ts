/** Between two snapshots that are kept, the older lies at most so many times as far behind the newest as the newer. */
const REACH = 4;

/**
 * The snapshot that its neighbours make up for, if there is one; `seqs` are all of one fold version, newest first. With one
 * let go per snapshot made, about two are kept for every time the log has grown fourfold, denser towards its end: what a
 * thread was d entries before its newest snapshot is rebuilt from at most 3d entries and one interval between snapshots, so
 * a subscriber that comes back costs in proportion to what it missed, never to the thread's length. The newest two always stay,
 * because a cursor often lies right behind the newest.
 */
export function spareSnapshot(seqs: readonly number[]): number | undefined {
  const [newest = 0] = seqs;
  return seqs.findLast((_, index) => {
    const newer = seqs[index - 1];
    const older = seqs[index + 1];
    return newer !== undefined && older !== undefined && newest - older <= REACH * (newest - newer);
  });
}
