import { setTimeout as delay } from "node:timers/promises";
import { createJsonlSource, hashKey, reconcile } from "@throughline/billing";
import { expect } from "vitest";
import { seededRandom } from "../../server/rig/seeded-random.js";
import { type BilledService, startBilledService } from "./billed-service.js";
import { type Charges, chargeProblems, countCharges } from "./charge-problems.js";
import { TOKENS } from "./litellm-rig.js";

export interface KillProgram {
  readonly runs: number;
  readonly serviceKills: number;
  readonly litellmKills: number;
  readonly seed: number;
}

const AT_ONCE = 4;
const GRAPHS = ["stranger", "looper", "pair"];
/** Is still under way when the next kill comes. */
const LONG_PLAN = "tokens=20 delay=100";
const PLANS = [
  "tokens=2",
  "tokens=20 delay=15",
  "tokens=8 delay=40 tools=1",
  "tokens=5 tools=2",
  "tokens=10 failAfter=4 delay=20 mode=cut",
  "tokens=6 failAfter=2 mode=error",
  "status=500 times=1",
];

/**
 * Random runs of two tenants on two instances, which are killed under them, and their LiteLLM too. When all has ended and was
 * reconciled, receipts, LiteLLM's log and the upstream's own count must agree. Gives a line that says what happened.
 */
export async function killBilling({ runs, serviceKills, litellmKills, seed }: KillProgram): Promise<string> {
  const service = await startBilledService({ instances: 2, leaseMs: 1_500, reapEveryMs: 300 });
  const random = seededRandom(seed);
  const below = (count: number) => Math.floor(random() * count);
  const kills = shuffled(
    [...Array(serviceKills).fill("service"), ...Array(litellmKills).fill("litellm")] as (
      | "service"
      | "litellm"
    )[],
    random,
  );
  try {
    const perKill = Math.max(1, Math.floor(runs / (kills.length + 1)));
    let next = 0;
    /** Runs are let go on from kill to kill: else all would be over before the second. */
    let allowed = perKill;
    let goOn = deferred();
    async function keepRunning(): Promise<void> {
      while (next < runs) {
        if (next >= allowed) {
          await goOn.promise;
          continue;
        }
        const index = next;
        next += 1;
        await runOnce(index);
      }
    }
    /** A client of a killed instance is left with an error; its run goes on elsewhere. One that was refused comes again. */
    async function runOnce(index: number): Promise<void> {
      const account = index % 2 === 0 ? "ann" : "bob";
      const plan = index % perKill === 0 ? LONG_PLAN : PLANS[below(PLANS.length)];
      const thread = `thread-${index}`;
      const asked = { account, thread, prompt: `run-${index} of ${account} ${plan}`, graph: pick(GRAPHS) };
      for (let isStarted = false; !isStarted; ) {
        const end = await service.run({ ...asked, instance: below(2) }).catch(() => undefined);
        isStarted = end === undefined ? await hasRun(service, thread) : end.status < 500;
        if (!isStarted) await delay(200);
      }
    }
    const pick = (names: readonly string[]) => names[below(names.length)] ?? "stranger";
    const running = Promise.all(Array.from({ length: AT_ONCE }, keepRunning));
    for (const kill of kills) {
      // The kill is to hit a call under way.
      const isUnderWay = () =>
        service.upstream.calls.some(({ outcome, sent }) => outcome === "open" && sent > 0);
      await expect.poll(isUnderWay, { timeout: 60_000, interval: 5 }).toBe(true);
      if (kill === "litellm") {
        await service.litellm.kill();
        await service.litellm.start();
      } else {
        const victim = service.servers[below(service.servers.length)];
        await victim?.kill();
        await victim?.restart();
      }
      allowed += perKill;
      goOn.resolve();
      goOn = deferred();
    }
    allowed = runs;
    goOn.resolve();
    await running;
    await untilQuiet(service);
    return await judge(service, runs);
  } finally {
    await service.stop();
  }
}

async function hasRun({ pool }: BilledService, thread: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    "select 1 from throughline.runs where request::text like $1 limit 1",
    [`%${thread}"%`],
  );
  return (rowCount ?? 0) > 0;
}

/** Every run has ended, the upstream has seen the last of every call, and LiteLLM has logged what it will log. */
async function untilQuiet({ pool, upstream, logged }: BilledService): Promise<void> {
  await expect
    .poll(
      async () => {
        const { rows } = await pool.query(
          "select count(*)::integer as open from throughline.runs where ended_at is null",
        );
        return rows[0]?.open;
      },
      { timeout: 180_000, interval: 500 },
    )
    .toBe(0);
  await expect
    .poll(() => upstream.calls.filter(({ outcome }) => outcome === "open").length, { timeout: 60_000 })
    .toBe(0);
  let rows = -1;
  await expect
    .poll(
      () => {
        const before = rows;
        rows = logged().length;
        return rows === before;
      },
      { interval: 2_000, timeout: 60_000 },
    )
    .toBe(true);
}

async function judge(service: BilledService, runs: number): Promise<string> {
  const { ledger, facts, upstream } = service;
  const source = createJsonlSource(service.litellm.spendLog);
  // The service's own pass gives calls of killed processes their time; here all that will come has come.
  for (let pass = 0; pass < 2; pass++)
    await reconcile({ ledger, facts, source, graceMs: 0, longestCallMs: 0 });
  const units = await service.units();
  const runIds = [...new Set(units.map(({ runId }) => runId))];
  const charges: Charges = {
    units,
    receipts: (await Promise.all(runIds.map((runId) => ledger.receipts(runId)))).flat(),
    logged: service.logged(),
    unclaimed: await facts.unclaimed(10),
    upstream: upstream.calls.map(({ outcome }) => outcome),
    keyHashOf: (account) => hashKey(TOKENS[account] ?? ""),
  };
  expect(chargeProblems(charges)).toEqual([]);
  const { whole, priced, listed } = countCharges(charges);
  return `${runs} runs, ${units.length} calls: ${priced} with a price, ${listed} listed; the upstream answered ${whole} in full`;
}

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

function shuffled<Item>(items: readonly Item[], random: () => number): readonly Item[] {
  return items
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
