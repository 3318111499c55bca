import type { MemoryDatabase, MemoryThread } from "../../memory/database.js";
import { threadKey } from "../../thread-ref.js";
import type { ModelWorld } from "./model-world.js";

/**
 * What holds of any database of ours, whatever the reference thinks: it is the same code's author's. Rows are counted again,
 * and every append is looked for.
 */
export function checkInvariants(world: ModelWorld): void {
  const { state } = world;
  for (const [key, row] of state.threads) {
    checkCounts(row);
    hold(
      world.halfTrimmed.has(key) || isTrimmed(row),
      `${row.thread.threadId}: something below the floor was not deleted`,
    );
    checkAppends(world, row);
  }
  checkRuns(state);
}

function checkCounts(row: MemoryThread): void {
  const { threadId } = row.thread;
  const readable = row.entries.filter(({ seq }) => seq >= row.floor);
  const isDense = readable.every(({ seq }, index) => seq === row.floor + index);
  hold(isDense && readable.length === row.head - row.floor + 1, `${threadId}: there is a hole in its log`);
  const bytes = (from: number) =>
    row.entries.filter(({ seq }) => seq >= from).reduce((sum, entry) => sum + entry.bytes, 0);
  const snapshots = [...row.snapshots.values()].flat();
  const newest = Math.max(0, ...snapshots.map(({ position }) => position.seq));
  hold(
    row.heldBytes === bytes(row.floor),
    `${threadId}: holds ${bytes(row.floor)} bytes, not ${row.heldBytes}`,
  );
  const unfolded = bytes(newest + 1);
  hold(
    row.unfoldedBytes === unfolded,
    `${threadId}: ${unfolded} bytes are unfolded, not ${row.unfoldedBytes}`,
  );
  hold(row.floor <= newest + 1, `${threadId}: was trimmed past its newest snapshot`);
  for (const { position, state } of snapshots) {
    hold(position.seq <= row.head, `${threadId}: a snapshot is of a position that does not exist`);
    hold(
      JSON.stringify(state) === JSON.stringify({ through: position.seq }),
      `${threadId}: a snapshot has changed`,
    );
  }
}

/** Below the floor there are terminals, and no snapshot: the log does not go on after it. */
function isTrimmed({ floor, entries, snapshots }: MemoryThread): boolean {
  return (
    entries.every(({ seq, endOfRun }) => seq >= floor || endOfRun !== undefined) &&
    [...snapshots.values()].flat().every(({ position }) => position.seq + 1 >= floor)
  );
}

/** Per epoch: what was taken is there, once, at its place; what was refused is not; what was lost is there at most once. */
function checkAppends({ appends, state }: ModelWorld, row: MemoryThread): void {
  const { threadId } = row.thread;
  const bySeq = new Map(row.entries.map(({ seq, text }) => [seq, text]));
  const own = appends.filter(({ append }) => threadKey(append.thread) === threadKey(row.thread));
  const writers = new Map(
    own.flatMap(({ append, outcome }) =>
      append.entries.map(({ text }) => [text, { token: append.token, outcome }] as const),
    ),
  );
  for (const { append, outcome, epoch, first = 0 } of own) {
    if (outcome !== "taken" || epoch !== row.epoch) continue;
    append.entries.forEach(({ text }, index) => {
      const seq = first + index;
      hold(
        seq < row.floor || bySeq.get(seq) === text,
        `${threadId}: what was acknowledged at ${seq} is not there`,
      );
    });
  }
  let token = 0n;
  const seen = new Set<string>();
  for (const { seq, text, endOfRun } of row.entries) {
    const writer = writers.get(text);
    hold(
      writer !== undefined && writer.outcome !== "refused",
      `${threadId}: ${seq} was refused, and is there`,
    );
    hold(!seen.has(text), `${threadId}: ${seq} is there twice`);
    seen.add(text);
    hold((writer?.token ?? 0n) >= token, `${threadId}: ${seq} was written by an older lease`);
    token = writer?.token ?? token;
    const run = endOfRun === undefined ? undefined : state.runs.get(endOfRun);
    hold(run?.status !== "running", `${endOfRun}: its run_end can be read, and it runs`);
  }
}

function checkRuns(state: MemoryDatabase): void {
  const running = new Set<string>();
  for (const run of state.runs.values()) {
    const isRunning = run.status === "running";
    hold((run.leaseUntil !== undefined) === isRunning, `${run.runId}: is leased, and does not run`);
    // One that was released before anything was done for it runs without an owner until it is claimed.
    hold(run.owner === undefined || isRunning, `${run.runId}: has an owner, and does not run`);
    const isOpen = isRunning || run.status === "queued";
    hold(
      (run.endedAt === undefined) === isOpen,
      `${run.runId}: has ended without a time, or is open with one`,
    );
    if (!isRunning) continue;
    const key = threadKey(run.thread);
    hold(!running.has(key), `R24: ${run.runId} is not the only one that runs in its thread`);
    running.add(key);
    hold(
      run.token <= (state.threads.get(key)?.fence ?? 0n),
      `${run.runId}: the thread does not know its token`,
    );
  }
}

/** Tokens of a thread only grow. */
export function checkTokens(before: MemoryDatabase, after: MemoryDatabase): void {
  for (const [key, row] of before.threads) {
    const later = after.threads.get(key);
    hold(later === undefined || later.fence >= row.fence, `${row.thread.threadId}: its fence fell`);
  }
}

/** Not `expect`, which costs a hundred times as much, and there are thousands in a case. */
export function hold(condition: boolean, otherwise: string): void {
  if (!condition) throw new Error(otherwise);
}
