import { StoreOutage } from "@throughline/ai-core";
import type { StoreAppend, StoreAppendResult } from "../port/log-store.js";

export interface CommitSteps {
  /** Commits a batch, or fails as a whole. */
  readonly write: (batch: readonly StoreAppend[]) => Promise<readonly StoreAppendResult[]>;
  /** Appends of the batch whose thread another session holds right now. */
  readonly findLocked: (batch: readonly StoreAppend[]) => Promise<ReadonlySet<StoreAppend>>;
}

const LOCKED: StoreAppendResult = { ok: false, reason: "locked" };

/** `lock_not_available`, after `lock_timeout`; `deadlock_detected`. */
const LOCK_FAILURES = new Set(["55P03", "40P01"]);

/**
 * Commits a batch without the threads that other sessions hold, which are answered `locked`. A batch is one statement, so a
 * row that is locked makes it fail as a whole: then it is asked which rows these are, and the others are written. What waits
 * for other rows than the thread's own is found by writing one by one.
 */
export async function commitAroundLocks(
  { write, findLocked }: CommitSteps,
  batch: readonly StoreAppend[],
): Promise<readonly StoreAppendResult[]> {
  const written = await unlessLocked(() => write(batch));
  if (written) return written;
  if (batch.length === 1) return [LOCKED];
  const locked = await findLocked(batch);
  const free = batch.filter((append) => !locked.has(append));
  const isSmaller = free.length > 0 && free.length < batch.length;
  const rest = isSmaller ? await unlessLocked(() => write(free)) : undefined;
  const results = rest ?? (await writeOneByOne(write, free));
  const byAppend = new Map(free.map((append, index) => [append, results[index]]));
  return batch.map((append) => byAppend.get(append) ?? LOCKED);
}

async function writeOneByOne(
  write: CommitSteps["write"],
  appends: readonly StoreAppend[],
): Promise<readonly StoreAppendResult[]> {
  const results: StoreAppendResult[] = [];
  for (const append of appends) {
    const written = await unlessLocked(() => write([append]));
    results.push(written?.[0] ?? LOCKED);
  }
  return results;
}

async function unlessLocked<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (isLockFailure(error)) return undefined;
    throw error;
  }
}

function isLockFailure(error: unknown): boolean {
  const cause = error instanceof StoreOutage ? error.cause : error;
  return (
    cause instanceof Error &&
    "code" in cause &&
    typeof cause.code === "string" &&
    LOCK_FAILURES.has(cause.code)
  );
}
