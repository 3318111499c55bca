import { randomUUID } from "node:crypto";
import { type AiEvent, aiEventSchema } from "@throughline/ai-core";
import {
  createPostgresFactStore,
  createPostgresLedgerStore,
  type FactStore,
  type LedgerStore,
  UNIT_STATES,
  type UsageUnit,
} from "@throughline/billing";
import { SignJWT } from "jose";
import pg from "pg";
import { type RigPostgres, startPostgres } from "../../server/rig/start-postgres.js";
import { type RigServer, type RigServerOptions, startServer } from "../../server/rig/start-server.js";
import { type LitellmRig, SERVICE_KEY, startLitellmRig, VIRTUAL_KEYS } from "./litellm-rig.js";

const STRANGERS = new URL("../graphs/strangers.ts", import.meta.url);
const SECRET = "a secret of this test, which is long enough";

export interface AskedRun {
  readonly account?: string;
  readonly subject?: string;
  readonly role?: string;
  readonly graph?: string;
  readonly prompt: string;
  readonly model?: string;
  readonly thread?: string;
  readonly visibility?: "private" | "account";
  readonly requestId?: string;
  readonly traceId?: string;
  readonly signal?: AbortSignal;
  /** Which instance is asked; default 0. */
  readonly instance?: number;
}

export interface AskedEnd {
  readonly status: number;
  readonly events: readonly AiEvent[];
  /** Of an answer that is no stream. */
  readonly problem: unknown;
}

/** The whole service between people and a real LiteLLM. */
export interface BilledService extends Omit<LitellmRig, "stop"> {
  readonly servers: readonly RigServer[];
  readonly ledger: LedgerStore;
  readonly facts: FactStore;
  readonly pool: pg.Pool;
  /** `POST /runs`, read to its end. */
  run(asked: AskedRun): Promise<AskedEnd>;
  request(
    path: string,
    options?: RequestInit & { account?: string; subject?: string; role?: string; instance?: number },
  ): Promise<Response>;
  units(runId?: string): Promise<readonly UsageUnit[]>;
  stop(): Promise<void>;
}

export interface BilledServiceOptions extends Omit<Partial<RigServerOptions>, "env" | "graphs"> {
  /** Default: those of people who know nothing of us. */
  readonly graphs?: URL | undefined;
  readonly instances?: number;
  /** Default: one of its own. It ends with the service. */
  readonly rig?: LitellmRig;
  /** More settings, once LiteLLM is there. */
  readonly settings?: (rig: LitellmRig) => Promise<Readonly<Record<string, string>>>;
}

export async function startBilledService(options: BilledServiceOptions = {}): Promise<BilledService> {
  const { instances = 1, settings = async () => ({}), graphs: asked, rig: given, ...rest } = options;
  const graphs = "graphs" in options ? asked : STRANGERS;
  const [rig, postgres]: [LitellmRig, RigPostgres] = await Promise.all([
    given ?? startLitellmRig(),
    startPostgres(),
  ]);
  const databaseUrl = await postgres.createDatabase();
  const more = await settings(rig);
  const servers: RigServer[] = [];
  for (let index = 0; index < instances; index++) {
    servers.push(
      await startServer({
        databaseUrl,
        ...rest,
        ...(graphs && { graphs }),
        env: {
          THROUGHLINE_JWT_SECRET: SECRET,
          LITELLM_BASE_URL: `${rig.litellm.url}/v1`,
          LITELLM_API_KEY: SERVICE_KEY,
          LITELLM_VIRTUAL_KEYS: VIRTUAL_KEYS,
          THROUGHLINE_SPEND_LOG: rig.litellm.spendLog,
          THROUGHLINE_RECONCILE_SECONDS: "1",
          THROUGHLINE_DEFAULT_MODEL: "cheap",
          ...more,
        },
      }),
    );
  }
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 2 });
  // The server that ends with a test takes its connections along.
  pool.on("error", () => {});
  const database = { pool, schema: "throughline" };
  const ledger = createPostgresLedgerStore(database);

  async function tokenOf({ account = "ann", subject = "someone", role = "admin" } = {}): Promise<string> {
    return new SignJWT({
      billing_account_id: account,
      sub: subject,
      virtual_key_id: `vk-${account}`,
      throughline_role: role,
    })
      .setProtectedHeader({ alg: "HS256" })
      .setExpirationTime("10m")
      .sign(new TextEncoder().encode(SECRET));
  }

  async function request(
    path: string,
    { account, subject, role, instance = 0, headers, ...init }: Parameters<BilledService["request"]>[1] = {},
  ): Promise<Response> {
    const token = await tokenOf({
      ...(account !== undefined && { account }),
      ...(subject !== undefined && { subject }),
      ...(role !== undefined && { role }),
    });
    return fetch(`${servers[instance]?.url}${path}`, {
      ...init,
      headers: { ...Object.fromEntries(new Headers(headers)), authorization: `Bearer ${token}` },
    });
  }

  return {
    ...rig,
    servers,
    ledger,
    facts: createPostgresFactStore(database),
    pool,
    request,
    async run({
      account = "ann",
      subject,
      role,
      graph = "stranger",
      prompt,
      model = "cheap",
      thread,
      signal,
      instance = 0,
      ...ids
    }) {
      const response = await request("/runs", {
        method: "POST",
        headers: { "content-type": "application/json" },
        account,
        instance,
        ...(subject !== undefined && { subject }),
        ...(role !== undefined && { role }),
        ...(signal && { signal }),
        body: JSON.stringify({
          runId: randomUUID(),
          accountId: account,
          graphName: graph,
          model,
          ...(thread !== undefined && { stateKey: thread }),
          ...(ids.visibility && { visibility: ids.visibility }),
          messages: [{ role: "user", content: prompt }],
          requestId: ids.requestId ?? `req-${randomUUID()}`,
          traceId: ids.traceId ?? randomUUID().replaceAll("-", ""),
        }),
      });
      if (response.headers.get("content-type")?.includes("event-stream") !== true)
        return { status: response.status, events: [], problem: await response.json() };
      const lines = (await response.text()).split("\n").filter((line) => line.startsWith("data: "));
      const events = lines.map((line) => aiEventSchema.parse(JSON.parse(line.slice("data: ".length))));
      return { status: response.status, events, problem: undefined };
    },
    async units(runId) {
      const lists = await Promise.all(
        UNIT_STATES.map((state) => ledger.list({ state, olderThanMs: -60_000, limit: 100_000 })),
      );
      return lists.flat().filter((unit) => runId === undefined || unit.runId === runId);
    },
    async stop() {
      await Promise.all(servers.map((server) => server.stop()));
      await pool.end();
      await Promise.all([rig.stop(), postgres.stop()]);
    },
  };
}
