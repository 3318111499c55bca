import { randomUUID } from "node:crypto";
import type { KeyResolver } from "@throughline/ai-core";
import {
  BILLING_MIGRATIONS,
  BILLING_MIGRATIONS_RECORD,
  type Billing,
  createBilling,
  createJsonlSource,
  createLitellmAdmin,
  createPostgresBudgetStore,
  createPostgresFactStore,
  createPostgresLedgerStore,
  environmentKeys,
  type FactStore,
  hashKey,
  type LedgerStore,
  type LitellmAdmin,
  type MeteredRun,
  type ReconcileReport,
  type ReconcilerOptions,
  reconcile,
  type SpendSource,
  withMeteredRun,
} from "@throughline/billing";
import { migrate, openPostgres, type PostgresDatabase } from "@throughline/thread-log";
import { launchPostgres } from "../../../scripts/launch-postgres.mjs";
import { type LitellmRig, SERVICE_KEY, startLitellmRig, VIRTUAL_KEYS } from "./litellm-rig.js";

export interface CallOptions {
  readonly model?: string;
  readonly stream?: boolean;
  readonly signal?: AbortSignal;
  readonly path?: string;
  readonly body?: Readonly<Record<string, unknown>>;
}

export interface MeteredScene extends Omit<LitellmRig, "stop"> {
  readonly billing: Billing;
  readonly ledger: LedgerStore;
  readonly facts: FactStore;
  readonly source: SpendSource;
  readonly keys: KeyResolver;
  readonly database: PostgresDatabase;
  readonly databaseUrl: string;
  /** What the meter told, as `priced 17000000`. */
  readonly told: string[];
  newRun(account: string): MeteredRun;
  call(run: MeteredRun, prompt: string, options?: CallOptions): Promise<Response>;
  /** A pass that waits for nothing. */
  reconcileNow(options?: Partial<ReconcilerOptions>): Promise<ReconcileReport>;
  close(): Promise<void>;
}

export interface SceneParts {
  readonly rig: LitellmRig;
  readonly serviceKey: string;
  readonly keysOf: (database: PostgresDatabase, admin: LitellmAdmin) => KeyResolver;
  readonly sourceOf: (admin: LitellmAdmin) => SpendSource;
}

async function partsWithoutDatabase(): Promise<SceneParts> {
  const rig = await startLitellmRig();
  return {
    rig,
    serviceKey: SERVICE_KEY,
    keysOf: () => environmentKeys(VIRTUAL_KEYS),
    sourceOf: () => createJsonlSource(rig.litellm.spendLog),
  };
}

/** A real LiteLLM between the metered fetch and an upstream of ours, and a ledger in PostgreSQL. */
export async function openMeteredScene(parts?: SceneParts): Promise<MeteredScene> {
  const [{ rig, serviceKey, keysOf, sourceOf }, postgres] = await Promise.all([
    parts ?? partsWithoutDatabase(),
    launchPostgres(),
  ]);
  const { litellm } = rig;
  const database = await openPostgres({ connection: postgres.url });
  await migrate(database.directPool, database.schema, {
    record: BILLING_MIGRATIONS_RECORD,
    migrations: BILLING_MIGRATIONS,
  });
  const ledger = createPostgresLedgerStore(database);
  const facts = createPostgresFactStore(database);
  const admin = createLitellmAdmin({ baseUrl: litellm.url, serviceKey });
  const source = sourceOf(admin);
  const keys = keysOf(database, admin);
  const told: string[] = [];
  const billing = createBilling({
    baseUrl: `${litellm.url}/v1`,
    admin,
    serviceKey,
    keys,
    ledger,
    facts,
    budgets: createPostgresBudgetStore(database),
    sources: [source],
    observer: {
      priced: (_, { amount, evidence }) => told.push(`priced ${amount} ${evidence}`),
      doubted: (_, reason) => told.push(`doubted ${reason}`),
      refused: (code) => told.push(`refused ${code}`),
      servedOther: (_, model) => told.push(`served ${model}`),
      escaped: ({ origin }) => told.push(`escaped ${origin}`),
      billingFailed: () => told.push("billing failed"),
    },
  });
  return {
    billing,
    ledger,
    facts,
    source,
    keys,
    ...rig,
    database,
    databaseUrl: postgres.url,
    told,
    newRun: (account) => ({
      runId: randomUUID(),
      attempt: 0,
      threadId: randomUUID(),
      graphId: "langgraph:chat",
      ingressRequestId: `req-${randomUUID()}`,
      caller: {
        billingAccountId: account,
        subject: "someone",
        virtualKeyId: `vk-${account}`,
        traceId: randomUUID().replaceAll("-", ""),
      },
      executorType: "inproc",
    }),
    call: (
      run,
      prompt,
      { model = "cheap", stream = false, signal, path = "/chat/completions", body = {} } = {},
    ) =>
      withMeteredRun(run, () =>
        billing.fetch(`${litellm.url}/v1${path}`, {
          method: "POST",
          headers: { "content-type": "application/json", authorization: "Bearer sk-graphs-own" },
          body: JSON.stringify({
            model,
            messages: [{ role: "user", content: prompt }],
            ...(stream && { stream: true }),
            ...body,
          }),
          ...(signal && { signal }),
        }),
      ),
    reconcileNow: (options) => reconcile({ ledger, facts, source, graceMs: 0, longestCallMs: 0, ...options }),
    async close() {
      await database.close();
      await rig.stop();
      await postgres.stop();
    },
  };
}

export { hashKey };
