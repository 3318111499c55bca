import { randomUUID } from "node:crypto";
import { systemClock } from "@throughline/ai-core";
import { addCheckpointCounts, NO_CHECKPOINTS } from "@throughline/graph-executor";
import type { SweptFiles } from "../attachments/attachment-store.js";
import { fileSweepOf, sweepFiles } from "../attachments/attachment-sweeper.js";
import type { ServerConfig } from "../config/read-config.js";
import { sweepOnce } from "../operations/retention-sweeper.js";
import { openStores, type Stores } from "../service/open-stores.js";
import { type Swept, silentObserver } from "../thread/service-observer.js";
import { withDatabaseUrl } from "./with-database-url.js";

/** What a round deleted, or would delete. */
export interface RetentionReport {
  readonly dryRun: boolean;
  readonly deleted: Swept;
  /** Files that belong to no message. */
  readonly files: SweptFiles;
  /** Of a dry run: what the values of these rows take. */
  readonly bytes?: { readonly entries: number; readonly checkpoints: number };
}

export interface RetentionRun {
  readonly isDryRun: boolean;
  readonly signal: AbortSignal;
  readonly onFailure: (error: unknown) => void;
}

/** One round of retention beside whatever instances run. An embedded PostgreSQL is started for it, or shared if it runs. */
export async function runRetention(
  config: Pick<
    ServerConfig,
    "databaseUrl" | "dataDir" | "redisUrl" | "attachmentsDir" | "unnamedMs" | "retention"
  >,
  run: RetentionRun,
): Promise<RetentionReport> {
  const { redisUrl, attachmentsDir } = config;
  return withDatabaseUrl(config, async (databaseUrl) => {
    const stores = await openStores(
      {
        kind: "postgres",
        databaseUrl,
        ...(redisUrl !== undefined && { redisUrl }),
        ...(attachmentsDir !== undefined && { attachmentsDir }),
      },
      {
        clock: systemClock,
        lease: { owner: randomUUID(), leaseMs: 15_000 },
        observer: { ...silentObserver, failed: (_, error) => run.onFailure(error) },
        retention: config.retention,
        // Without its graphs this command can't tell a thread from its checkpoint; the service does.
        rebuild: async () => undefined,
      },
    );
    try {
      return run.isDryRun ? await measure(stores, config, run) : await sweep(stores, config, run);
    } finally {
      await stores.close();
    }
  });
}

type Bounds = Pick<ServerConfig, "retention" | "unnamedMs">;

async function sweep(
  { log, registry, retention: store, deletions: receipts, attachments }: Stores,
  { retention, unnamedMs }: Bounds,
  { signal: closing, onFailure }: RetentionRun,
): Promise<RetentionReport> {
  const deleted = await sweepOnce({ log, registry, store, receipts }, retention, { closing, onFailure });
  return { dryRun: false, deleted, files: await sweepFiles(attachments, unnamedMs, { closing }) };
}

async function measure(
  { retention: store, deletions, attachments }: Stores,
  { retention: { maxAgeMs, receiptAgeMs, checkpoints: kept }, unnamedMs }: Bounds,
  { signal: closing, onFailure }: RetentionRun,
): Promise<RetentionReport> {
  const { entries, entryBytes, runs, threads } = await store.measure(maxAgeMs);
  const receipts = receiptAgeMs === undefined ? 0 : await deletions.countReceipts(receiptAgeMs);
  let counts = NO_CHECKPOINTS;
  let after: string | undefined;
  do {
    if (!kept) break;
    const page = await store.pruneCheckpoints(kept, { after, isDryRun: true, closing, onFailure });
    counts = addCheckpointCounts(counts, page.checkpoints);
    after = page.next;
  } while (after !== undefined && !closing.aborted);
  const { checkpoints, blobs, writes, bytes } = counts;
  return {
    dryRun: true,
    // What would be merged is known only once it was read.
    deleted: { entries, merged: 0, runs, threads, checkpoints, blobs, writes, receipts },
    files: await attachments.countSweepable(fileSweepOf(unnamedMs)),
    bytes: { entries: entryBytes, checkpoints: bytes },
  };
}
