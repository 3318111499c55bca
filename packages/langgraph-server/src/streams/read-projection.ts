import type { LogEntry, LogPosition } from "@throughline/ai-core";
import { emptyThreadProjection, type ThreadProjection, threadProjectionCodec } from "@throughline/reading";
import type { ThreadLog, ThreadRef } from "@throughline/thread-log";

const ENTRIES_PER_PROJECTION_READ = 1_000;
/** A client that was away for longer is better served with a prelude than with a rebuilt past. */
const MAX_REBUILT = 100_000;

/**
 * The projection of a thread at an earlier position: from the newest snapshot before it, else from the log's beginning. Costs in
 * proportion to how long ago that was, because snapshots lie denser towards the end of the log. `undefined` when the log no
 * longer has it, compaction merged it into a later entry, or it is too far.
 */
export async function foldAt(
  log: Pick<ThreadLog, "read" | "snapshot">,
  thread: ThreadRef,
  { epoch, seq }: LogPosition,
): Promise<ThreadProjection | undefined> {
  const snapshot = await log.snapshot(thread, threadProjectionCodec.reads, seq);
  const isOfThis = snapshot !== undefined && snapshot.position.epoch === epoch;
  const decoded = isOfThis ? threadProjectionCodec.decode(snapshot.state, snapshot.foldVersion) : undefined;
  let fold = decoded ?? emptyThreadProjection;
  let at = decoded && snapshot ? snapshot.position.seq : 0;
  if (seq - at > MAX_REBUILT) return undefined;
  while (at < seq) {
    const limit = Math.min(ENTRIES_PER_PROJECTION_READ, seq - at);
    const page = await log.read(thread, at === 0 ? undefined : { epoch, seq: at }, limit);
    const last = page.kind === "entries" ? page.entries.at(-1) : undefined;
    if (page.kind !== "entries" || last?.epoch !== epoch) return undefined;
    fold = threadProjectionCodec.apply(
      fold,
      last.seq > seq ? page.entries.filter((entry) => entry.seq <= seq) : page.entries,
    );
    // Where the log was compacted, seqs jump, and a page may reach further than requested.
    at = page.entries.findLast((entry) => entry.seq <= seq)?.seq ?? at;
    if (last.seq > seq) break;
  }
  return at === seq ? fold : undefined;
}

const ENTRIES_PER_RUN_READ = 500;

/**
 * The entries of a run, from its first `run_start` that the log still has to `until`. Reads backwards, because the log has
 * no index by run: it costs the length of the run and whatever came after it, never that of the thread.
 */
export async function readRun(
  log: Pick<ThreadLog, "read">,
  thread: ThreadRef,
  runId: string,
  until: LogPosition,
): Promise<readonly LogEntry[]> {
  const { epoch } = until;
  let found: LogEntry[] = [];
  let count = ENTRIES_PER_RUN_READ;
  for (let end = until.seq; end > 0; ) {
    let after = Math.max(0, end - count);
    let page = await log.read(thread, { epoch, seq: after }, end - after);
    // Within what compaction merged: the page begins a little earlier.
    if (page.kind === "gap" && page.resumeAt) {
      after = page.resumeAt.seq;
      page = await log.read(thread, { epoch, seq: after }, end - after);
    }
    // Trimmed somewhere in this page: smaller ones find what is left of it.
    if (page.kind === "gap" && page.reason === "trimmed" && count > 1) {
      count = Math.ceil(count / 2);
      continue;
    }
    if (page.kind !== "entries") return found;
    // Where the log was compacted, seqs jump, and a page may reach into the one before.
    const upTo = end;
    const own = page.entries.filter(({ seq, envelope }) => seq <= upTo && envelope.run_id === runId);
    found = [...own, ...found];
    end = after;
    if (found.some(({ envelope }) => isFirstOf(envelope))) return found;
  }
  return found;
}

function isFirstOf({ type, attempt }: LogEntry["envelope"]): boolean {
  return type === "run_start" && attempt === 0;
}
