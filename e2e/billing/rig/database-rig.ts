import pg from "pg";
import { ensureLitellmDatabase, litellmMigrations } from "../../../scripts/ensure-litellm-database.mjs";
import { launchPostgres } from "../../../scripts/launch-postgres.mjs";
import { type LitellmRig, type LoggedCall, startLitellmRig } from "./litellm-rig.js";

/** As `config.yaml` names it: with a database, this is the key that may do everything. */
export const MASTER_KEY = "sk-master-rig";

/** A key as LiteLLM stores it. */
export interface LitellmKey {
  /** Its SHA-256. */
  readonly token: string;
  readonly alias: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface DatabaseRig extends LitellmRig {
  /** `LiteLLM_SpendLogs` as PostgreSQL has it: of one run, or of all. */
  spendLogs(runId?: string): Promise<readonly LoggedCall[]>;
  litellmKeys(): Promise<readonly LitellmKey[]>;
}

const SPEND_LOGS = `
  select status, litellm_call_id as call_id, api_key as key_hash, spend, prompt_tokens as input_tokens,
    completion_tokens as output_tokens, model_group, coalesce(nullif(metadata->'spend_logs_metadata', 'null'), '{}') as labels
  from "LiteLLM_SpendLogs"
  where $1::text is null or metadata->'spend_logs_metadata'->>'runId' = $1
  order by "startTime"`;

/** A real LiteLLM with a PostgreSQL of its own. */
export async function startDatabaseRig(): Promise<DatabaseRig> {
  const postgres = await launchPostgres();
  const pool = new pg.Pool({ connectionString: postgres.url, max: 2 });
  // The server that ends with a test takes its connections along.
  pool.on("error", () => {});
  // Several statements at once are a transaction, in which no index is made concurrently.
  for (const statements of litellmMigrations())
    await pool.query(statements.replaceAll(/\bCONCURRENTLY\b/g, ""));
  async function closeDatabase(): Promise<void> {
    await pool.end();
    await postgres.stop();
  }
  const rig = await startLitellmRig({ databaseUrl: postgres.url }).catch(async (error: unknown) => {
    await closeDatabase();
    throw error;
  });
  return {
    ...rig,
    async spendLogs(runId) {
      return (await pool.query<LoggedCall>(SPEND_LOGS, [runId ?? null])).rows;
    },
    async litellmKeys() {
      const query = 'select token, key_alias as alias, metadata from "LiteLLM_VerificationToken"';
      return (await pool.query<LitellmKey>(query)).rows;
    },
    async stop() {
      await rig.stop();
      await closeDatabase();
    },
  };
}

/**
 * Why tests of a LiteLLM with a database don't run; nothing where they do. They are asked for by name, so what can't be
 * installed then is a failure.
 */
export async function whyWithoutDatabase(): Promise<string | undefined> {
  if (process.env.E2E_DATABASE !== "yes")
    return "LiteLLM gets a database with `npm run e2e -- billing --database` only, because that takes minutes.";
  const missing = await ensureLitellmDatabase();
  if (missing !== undefined) throw new Error(missing);
  return undefined;
}
