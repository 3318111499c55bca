import { setTimeout as delay } from "node:timers/promises";
import {
  createJsonlSource,
  createPostgresFactStore,
  createPostgresLedgerStore,
  reconcile,
  UNIT_STATES,
} from "@throughline/billing";
import pg from "pg";
import type { Charges } from "../../e2e/billing/rig/charge-problems.js";
import type { LitellmRig } from "../../e2e/billing/rig/litellm-rig.js";
import type { ChaosStage } from "../stage/chaos-stage.js";

/** Clocks of instances jump, and with them the times of their calls. */
const ANY_AGE_MS = -86_400_000;
const POLL_MS = 2_000;

/** What the service booked, once LiteLLM has logged all it will and the books were reconciled. */
export async function readCharges(
  { cluster, keyHashOf }: Pick<ChaosStage, "cluster" | "keyHashOf">,
  { litellm, upstream, logged }: LitellmRig,
  patienceMs: number,
): Promise<Charges> {
  await untilQuiet(() => upstream.calls.filter(({ outcome }) => outcome === "open").length, patienceMs);
  await untilQuiet(() => logged().length, patienceMs);
  const pool = new pg.Pool({ connectionString: cluster.url(), max: 2 });
  pool.on("error", () => {});
  try {
    const database = { pool, schema: "throughline" };
    const ledger = createPostgresLedgerStore(database);
    const facts = createPostgresFactStore(database);
    const source = createJsonlSource(litellm.spendLog);
    // The service's own pass gives calls of killed processes their time; here all that will come has come.
    for (let pass = 0; pass < 2; pass += 1)
      await reconcile({ ledger, facts, source, graceMs: 0, longestCallMs: 0 });
    const lists = await Promise.all(
      UNIT_STATES.map((state) => ledger.list({ state, olderThanMs: ANY_AGE_MS, limit: 100_000 })),
    );
    const units = lists.flat();
    const runIds = [...new Set(units.map(({ runId }) => runId))];
    const receipts = (await Promise.all(runIds.map((runId) => ledger.receipts(runId)))).flat();
    return {
      units,
      receipts,
      logged: logged(),
      unclaimed: await facts.unclaimed(10),
      upstream: upstream.calls.map(({ outcome }) => outcome),
      keyHashOf,
    };
  } finally {
    await pool.end();
  }
}

/** Resolves when a number is the same twice. */
async function untilQuiet(count: () => number, patienceMs: number): Promise<void> {
  const until = performance.now() + patienceMs;
  for (let before = -1; before !== count() && performance.now() < until; ) {
    before = count();
    await delay(POLL_MS);
  }
}
