import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
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
  type MeteredRun,
  type ReconcileReport,
  type ReconcilerOptions,
  reconcile,
  type SpendSource,
  withMeteredRun,
} from "@throughline/billing";
import { migrate, openPostgres, type PostgresDatabase } from "@throughline/thread-log";
import { type LaunchedLitellm, launchLitellm, type RigKeys } from "../../../scripts/launch-litellm.mjs";
import { launchPostgres } from "../../../scripts/launch-postgres.mjs";
import { type OpenAiUpstream, startOpenAiUpstream } from "../../../scripts/openai-upstream.mjs";

export const SERVICE_KEY = "sk-service-rig";

/** Tokens by account. `forged` names a key that LiteLLM does not know. */
export const TOKENS: Readonly<Record<string, string>> = {
  ann: "sk-tenant-ann",
  bob: "sk-tenant-bob",
  only: "sk-tenant-only",
  broke: "sk-tenant-broke",
  forged: "sk-tenant-forged",
};

/** As both a service and a LangGraph server have them in their environment. */
export const VIRTUAL_KEYS = JSON.stringify(
  Object.fromEntries(Object.entries(TOKENS).map(([account, token]) => [`vk-${account}`, { token, account }])),
);

const RIG_KEYS: RigKeys = {
  [SERVICE_KEY]: { alias: "service" },
  "sk-tenant-ann": { alias: "vk-ann", account: "ann" },
  "sk-tenant-bob": { alias: "vk-bob", account: "bob" },
  "sk-tenant-only": { alias: "vk-only", account: "only", models: ["cheap", "flaky"] },
  "sk-tenant-broke": { alias: "vk-broke", account: "broke" },
};

/** A line of the logger, as the proxy wrote it. */
export interface LoggedCall {
  readonly status: string;
  readonly call_id: string;
  readonly key_hash: string;
  readonly spend: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly model_group: string;
  readonly labels: Readonly<Record<string, unknown>>;
}

export interface CallOptions {
  readonly model?: string;
  readonly stream?: boolean;
  readonly signal?: AbortSignal;
  readonly path?: string;
  readonly body?: Readonly<Record<string, unknown>>;
}

export interface MeteredScene {
  readonly billing: Billing;
  readonly ledger: LedgerStore;
  readonly facts: FactStore;
  readonly source: SpendSource;
  readonly keys: KeyResolver;
  readonly litellm: LaunchedLitellm;
  readonly upstream: OpenAiUpstream;
  readonly database: PostgresDatabase;
  readonly databaseUrl: string;
  /** What the meter told, as `priced 17000000`. */
  readonly told: string[];
  newRun(account: string): MeteredRun;
  call(run: MeteredRun, prompt: string, options?: CallOptions): Promise<Response>;
  /** What LiteLLM recorded: of one run, or of all. */
  logged(runId?: string): readonly LoggedCall[];
  /** A pass that waits for nothing. */
  reconcileNow(options?: Partial<ReconcilerOptions>): Promise<ReconcileReport>;
  close(): Promise<void>;
}

/** A real LiteLLM between the metered fetch and an upstream of ours, and a ledger in PostgreSQL. */
export async function openMeteredScene(): Promise<MeteredScene> {
  const [upstream, postgres] = await Promise.all([startOpenAiUpstream(), launchPostgres()]);
  const litellm = await launchLitellm({ upstream: upstream.url, keys: RIG_KEYS });
  const database = await openPostgres({ connection: postgres.url });
  await migrate(database.directPool, database.schema, {
    record: BILLING_MIGRATIONS_RECORD,
    migrations: BILLING_MIGRATIONS,
  });
  const ledger = createPostgresLedgerStore(database);
  const facts = createPostgresFactStore(database);
  const source = createJsonlSource(litellm.spendLog);
  const keys = environmentKeys(VIRTUAL_KEYS);
  const told: string[] = [];
  const billing = createBilling({
    baseUrl: `${litellm.url}/v1`,
    admin: createLitellmAdmin({ baseUrl: litellm.url, serviceKey: SERVICE_KEY }),
    serviceKey: SERVICE_KEY,
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
    litellm,
    upstream,
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
    logged(runId) {
      const lines = readFileSync(litellm.spendLog, "utf8").split("\n").filter(Boolean);
      const calls = lines.map((line): LoggedCall => JSON.parse(line));
      return runId === undefined ? calls : calls.filter(({ labels }) => labels.runId === runId);
    },
    reconcileNow: (options) => reconcile({ ledger, facts, source, graceMs: 0, longestCallMs: 0, ...options }),
    async close() {
      await database.close();
      await Promise.all([litellm.stop(), upstream.stop()]);
      await postgres.stop();
    },
  };
}

export { hashKey };
