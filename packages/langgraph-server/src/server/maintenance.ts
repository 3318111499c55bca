import { randomUUID } from "node:crypto";
import { systemClock, ThroughlineError } from "@throughline/ai-core";
import { addCheckpointCounts, NO_CHECKPOINTS } from "@throughline/graph-executor";
import {
  createPostgresRunRegistry,
  hasInstances,
  migrate,
  openPostgres,
  renewEpochs,
  THREAD_LOG_MIGRATIONS,
} from "@throughline/thread-log";
import pg from "pg";
import {
  openBilling,
  openOfflineBilling,
  postgresBillingStores,
  type ServiceBilling,
  storedVirtualKeys,
} from "../accounts/billing.js";
import type { SweptFiles } from "../attachments/attachment-store.js";
import { fileSweepOf, sweepFiles } from "../attachments/file-sweep.js";
import { type Swept, silentObserver } from "../operations/observer.js";
import { sweepOnce } from "../operations/upkeep.js";
import { noUsage } from "../runs/run-attempt.js";
import type { ServerConfig } from "../settings/server-config.js";
import { withDatabaseUrl } from "./database.js";
import { SERVICE_MIGRATIONS } from "./migrations.js";
import { openStores, type Stores } from "./open-stores.js";

const SCHEMA = "throughline";

/**
 * R19, for a restore that a database can't notice by itself: every thread gets a new epoch. Throws `conflict` while an
 * instance uses the database, because what it writes meanwhile would count as restored. Returns the number of threads.
 */
export function renewAllEpochs(
  config: Pick<ServerConfig, "databaseUrl" | "databaseDirectUrl" | "dataDir">,
): Promise<number> {
  return withDatabaseUrl(config, async (url) => {
    const pool = new pg.Pool({ connectionString: config.databaseDirectUrl ?? url, max: 1 });
    pool.on("error", () => {});
    try {
      if (await hasInstances(pool)) {
        throw new ThroughlineError(
          "conflict",
          "An instance uses this database. Stop all of them, then try again.",
        );
      }
      await migrate(pool, SCHEMA, { record: "migrations", migrations: THREAD_LOG_MIGRATIONS });
      return await renewIn(pool);
    } finally {
      await pool.end();
    }
  });
}

async function renewIn(pool: pg.Pool): Promise<number> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    await renewEpochs(client, SCHEMA);
    const { rows } = await client.query<{ threads: number }>(
      `select count(*)::int as threads from ${SCHEMA}.threads`,
    );
    await client.query("commit");
    return rows[0]?.threads ?? 0;
  } finally {
    // A connection in the middle of a transaction is not reused.
    client.release(true);
  }
}

/** The report of a round: what it deleted, or would delete. */
export interface RetentionReport {
  readonly dryRun: boolean;
  readonly deleted: Swept;
  /** Files that belong to no message. */
  readonly files: SweptFiles;
  /** In a dry run, the size of the rows' values. */
  readonly bytes?: { readonly entries: number; readonly checkpoints: number };
}

export interface RetentionRun {
  readonly isDryRun: boolean;
  readonly signal: AbortSignal;
  readonly onFailure: (error: unknown) => void;
}

/** Runs one round of retention, next to running instances. An embedded PostgreSQL is started for it, or shared if it runs. */
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
        // Without graphs this command can't describe a thread from its checkpoint; the service does.
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
  { retention: { maxAgeMs, receiptAgeMs, checkpoints: bounds }, unnamedMs }: Bounds,
  { signal: closing, onFailure }: RetentionRun,
): Promise<RetentionReport> {
  const { entries, entryBytes, runs, threads } = await store.measure(maxAgeMs);
  const receipts = receiptAgeMs === undefined ? 0 : await deletions.countReceipts(receiptAgeMs);
  let counts = NO_CHECKPOINTS;
  let after: string | undefined;
  do {
    if (!bounds) break;
    const page = await store.pruneCheckpoints(bounds, { after, isDryRun: true, closing, onFailure });
    counts = addCheckpointCounts(counts, page.checkpoints);
    after = page.next;
  } while (after !== undefined && !closing.aborted);
  const { checkpoints, blobs, writes, bytes } = counts;
  return {
    dryRun: true,
    // The number of merged entries is known only after reading them.
    deleted: { entries, merged: 0, runs, threads, checkpoints, blobs, writes, receipts },
    files: await attachments.countSweepable(fileSweepOf(unnamedMs)),
    bytes: { entries: entryBytes, checkpoints: bytes },
  };
}

/** Billing without the service around it. */
export interface OpenedBilling {
  readonly billing: ServiceBilling;
  /**
   * Keys in the database; `undefined` where no secret to seal them with is configured. Throws `invalid_input` where the
   * secret can't be read.
   */
  keys(): ReturnType<typeof storedVirtualKeys>;
}

/** Works on billing, next to running instances. */
export function useBilling<Result>(
  config: Pick<
    ServerConfig,
    "databaseUrl" | "databaseDirectUrl" | "dataDir" | "billing" | "defaultModel" | "keySecrets"
  >,
  work: (opened: OpenedBilling) => Promise<Result>,
): Promise<Result> {
  return withDatabaseUrl(config, async (connection) => {
    const database = await openPostgres({ connection, direct: config.databaseDirectUrl });
    try {
      // Possibly no instance has run since the billing tables were introduced.
      for (const set of SERVICE_MIGRATIONS) await migrate(database.directPool, database.schema, set);
      const stores = postgresBillingStores(database);
      const context = {
        stores,
        registry: createPostgresRunRegistry(database),
        send: globalThis.fetch,
        defaultModel: config.defaultModel,
        usage: noUsage,
        clock: systemClock,
        observer: silentObserver,
      };
      const billing = config.billing ? openBilling(config.billing, context) : openOfflineBilling(context);
      return await work({ billing, keys: () => storedVirtualKeys(config, stores.virtualKeys) });
    } finally {
      await database.close();
    }
  });
}
