import {
  type Clock,
  type GraphCheckpoint,
  type GraphStatePort,
  type GraphThread,
  type JsonObject,
  type LogEntry,
  type LogPosition,
  parseGraphId,
  ThroughlineError,
  toGraphId,
} from "@throughline/ai-core";
import { formatUsd, type LedgerStore, type UnitState, type UsageUnit } from "@throughline/billing";
import type { StoreItems } from "@throughline/graph-executor";
import { threadProjectionCodec } from "@throughline/reading";
import type { ThreadLog, ThreadRef } from "@throughline/thread-log";
import type { AttachmentStore } from "../attachments/attachment-store.js";
import { type ArchiveFile, jsonLines, toArchive, wholeFile } from "./archive.js";
import { type AccountRows, allRows, type ExportScope, ROW_KINDS, type RowKind } from "./export-rows.js";
import type { AccountLimiter } from "./limits.js";

/** All stores with data of an account. */
interface ExportSources {
  readonly rows: AccountRows;
  readonly ledger: Pick<LedgerStore, "list">;
  readonly log: Pick<ThreadLog, "head" | "read" | "snapshot">;
  readonly state: Pick<GraphStatePort, "getState" | "history">;
  readonly attachments: Pick<AttachmentStore, "open">;
  /** `undefined` where graphs store them on a server that does not separate accounts. */
  readonly storeItems: Pick<StoreItems, "every"> | undefined;
}

export interface ExportOptions {
  readonly scope: ExportScope;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  /** Ends the export: the archive is cut off. */
  readonly signal: AbortSignal;
}

type Counts = Record<RowKind | "entries" | "states" | "branches" | "storeItems" | "usage", number>;

/**
 * Everything of an account or of one subject as a tar archive, read in pages as it is written. Runs continue meanwhile: each
 * thread is what it was when its turn came.
 */
async function* exportAccount(
  sources: ExportSources,
  { scope, now, signal }: ExportOptions,
): AsyncGenerator<Uint8Array> {
  const counts: Counts = {
    threads: 0,
    runs: 0,
    questions: 0,
    crons: 0,
    ticks: 0,
    files: 0,
    feedback: 0,
    receipts: 0,
    audit: 0,
    entries: 0,
    states: 0,
    branches: 0,
    storeItems: 0,
    usage: 0,
  };
  const describe = () => ({
    format: "throughline-export/1",
    account: scope.account,
    subject: scope.subject ?? null,
    exportedAt: new Date(now).toISOString(),
    counts,
  });
  for await (const chunk of toArchive(filesOf(sources, scope, counts), { now, describe })) {
    signal.throwIfAborted();
    yield chunk;
  }
}

async function* filesOf(
  sources: ExportSources,
  scope: ExportScope,
  counts: Counts,
): AsyncGenerator<ArchiveFile> {
  const { rows, ledger, storeItems } = sources;
  for (const kind of ROW_KINDS) yield* jsonLines(kind, counted(allRows(rows, kind, scope), counts, kind));
  yield* jsonLines("usage", counted(allUnits(ledger, scope), counts, "usage"));
  if (storeItems) {
    yield* jsonLines("store", counted(storeItems.every(scope.account, scope.subject), counts, "storeItems"));
  }
  for await (const row of allRows(rows, "threads", scope)) yield* filesOfThread(sources, scope, row, counts);
  for await (const row of allRows(rows, "files", scope)) {
    const thread = refOf(scope, row);
    const file = await sources.attachments.open(thread, String(row.id));
    // Deleted since it was listed.
    if (!file) continue;
    const path = `files/${thread.threadId}/${String(row.id)}`;
    yield { path, bytes: file.attachment.bytes, content: file.read() };
  }
}

/** A thread's newest checkpoint, the ends of its other branches, and its log up to its current head. */
async function* filesOfThread(
  { state, log }: ExportSources,
  scope: ExportScope,
  row: JsonObject,
  counts: Counts,
): AsyncGenerator<ArchiveFile> {
  const thread = refOf(scope, row);
  const folder = `threads/${thread.threadId}`;
  const graphId = graphOf(row);
  if (graphId !== undefined) {
    const checkpoints = { graphId, threadId: thread.threadId };
    const newest = await state.getState(checkpoints);
    if (newest) {
      counts.states += 1;
      yield wholeFile(`${folder}/state.json`, Buffer.from(`${JSON.stringify(newest)}\n`));
      yield* jsonLines(
        `${folder}/branches`,
        counted(branchTips(state, checkpoints, newest), counts, "branches"),
      );
    }
  }
  yield* jsonLines(`${folder}/log`, counted(entriesOf(log, thread), counts, "entries"));
}

/** Few, because each is a whole state. */
const CHECKPOINTS_PER_PAGE = 10;

/**
 * Checkpoints without children, except the newest: messages of a branch that a run left are only in these.
 * Newest first, so a checkpoint's children come before it.
 */
async function* branchTips(
  state: ExportSources["state"],
  thread: GraphThread,
  newest: GraphCheckpoint,
): AsyncGenerator<GraphCheckpoint> {
  const parents = new Set([newest.parentCheckpointId]);
  let before: string | undefined = newest.checkpointId;
  while (before !== undefined) {
    const page = await state.history(thread, { limit: CHECKPOINTS_PER_PAGE, before });
    for (const checkpoint of page) {
      if (!parents.delete(checkpoint.checkpointId)) yield checkpoint;
      parents.add(checkpoint.parentCheckpointId);
    }
    before = page.at(-1)?.checkpointId;
  }
}

/** In order and without a hole; of a log that was trimmed, what follows its newest snapshot. */
async function* entriesOf(log: ExportSources["log"], thread: ThreadRef): AsyncGenerator<LogEntry> {
  const head = await log.head(thread);
  if (!head) return;
  let after: LogPosition | undefined;
  let hasGap = false;
  while ((after?.seq ?? 0) < head.seq) {
    const read = await log.read(thread, after);
    if (read.kind === "deleted") return;
    if (read.kind === "gap") {
      // Trimmed, before this or meanwhile.
      const snapshot = hasGap ? undefined : await log.snapshot(thread, threadProjectionCodec.reads);
      if (!snapshot || snapshot.position.epoch !== head.epoch) return;
      hasGap = true;
      yield* read.kept;
      after = snapshot.position;
      continue;
    }
    const entries = read.entries.filter(({ seq }) => seq <= head.seq);
    yield* entries;
    after = read.entries.at(-1);
    if (!after) return;
  }
}

async function* counted<Value>(
  values: AsyncIterable<Value>,
  counts: Counts,
  kind: keyof Counts,
): AsyncGenerator<Value> {
  for await (const value of values) {
    counts[kind] += 1;
    yield value;
  }
}

function refOf({ account }: ExportScope, row: JsonObject): ThreadRef {
  return {
    account,
    ...(typeof row.subject === "string" && { subject: row.subject }),
    threadId: String(row.threadId),
  };
}

/** The graph by the thread's listing; else by the log's own key, `{graphName}/{threadName}`. */
function graphOf({ graphId, stateKey }: JsonObject): string | undefined {
  if (typeof graphId === "string") return graphId;
  if (typeof stateKey !== "string") return undefined;
  const name = parseGraphId(stateKey.slice(0, stateKey.indexOf("/")));
  return name === undefined ? undefined : toGraphId(name);
}

const PER_READ = 500;

/** In the order in which a unit moves through them: one that moves meanwhile is met again, never missed. */
const STATES: readonly UnitState[] = ["in_doubt", "unresolved", "written_off", "settled"];

/** Model calls of an account or of one subject, with what each cost. Of the key there is its name, not its hash. */
export async function* allUnits(
  ledger: Pick<LedgerStore, "list">,
  { account, subject }: ExportScope,
): AsyncGenerator<JsonObject> {
  /** Those that may be met again. */
  const open = new Set<string>();
  for (const state of STATES) {
    let after: UsageUnit | undefined;
    do {
      const units = await ledger.list({ account, state, olderThanMs: 0, after, limit: PER_READ });
      for (const unit of units) {
        if ((subject !== undefined && unit.subject !== subject) || open.has(unit.unitId)) continue;
        if (state === "in_doubt" || state === "unresolved") open.add(unit.unitId);
        yield toRow(unit);
      }
      after = units.length < PER_READ ? undefined : units.at(-1);
    } while (after);
  }
}

function toRow({
  keyHash: _,
  account: __,
  billed,
  openedAt,
  doubtedAt,
  seen,
  ...unit
}: UsageUnit): JsonObject {
  return {
    ...unit,
    subject: unit.subject ?? null,
    openedAt: new Date(openedAt).toISOString(),
    doubtedAt: doubtedAt === null ? null : new Date(doubtedAt).toISOString(),
    ...seen,
    cost: billed === null ? null : formatUsd(billed),
  };
}

export interface ExportService {
  /**
   * The archive, made as it is read; to be read or cancelled, because it holds the account's permit until then. Throws
   * `rate_limited` while another export of the account runs.
   */
  open(scope: ExportScope): Promise<ReadableStream<Uint8Array>>;
  /** Cuts open archives off. */
  close(): void;
}

export interface ExportServiceOptions extends ExportSources {
  readonly clock: Clock;
  readonly usage: Pick<AccountLimiter, "export">;
}

export function createExportService(options: ExportServiceOptions): ExportService {
  const { clock, usage } = options;
  const closing = new AbortController();

  return {
    async open(scope) {
      const { leave } = await usage.export(scope.account);
      const chunks = exportAccount(options, { scope, now: clock.now(), signal: closing.signal });
      return new ReadableStream<Uint8Array>(
        {
          async pull(controller) {
            try {
              const { done, value } = await chunks.next();
              if (!done) return controller.enqueue(value);
              leave();
              controller.close();
            } catch (error) {
              leave();
              controller.error(error);
            }
          },
          async cancel() {
            leave();
            await chunks.return(undefined);
          },
        },
        // Nothing is read ahead of the reader.
        { highWaterMark: 0 },
      );
    },
    close() {
      closing.abort(new ThroughlineError("shutting_down", "This instance is shutting down."));
    },
  };
}
