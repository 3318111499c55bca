import type { LogEntry, LogPosition } from "@throughline/ai-core";
import type { ThreadLog, ThreadRef } from "@throughline/thread-log";

const ENTRIES_PER_READ = 500;

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
  let count = ENTRIES_PER_READ;
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
