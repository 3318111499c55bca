import { randomBytes, randomUUID } from "node:crypto";
import { createSimulatedClock, type KeyResolver } from "@throughline/ai-core";
import {
  createLitellmAdmin,
  createPostgresKeyStore,
  createSpendLogSource,
  generatedKeys,
  type LitellmAdmin,
  type MeteredRun,
  parseKeyRing,
  type SpendFact,
  withSystemTenant,
} from "@throughline/billing";
import type { PostgresDatabase } from "@throughline/thread-log";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type DatabaseRig, MASTER_KEY, startDatabaseRig, whyWithoutDatabase } from "./rig/database-rig.js";
import { expectReceiptsOf } from "./rig/expect-receipts.js";
import { hashKey, type MeteredScene, openMeteredScene } from "./rig/metered-scene.js";
import { readOut, readSome } from "./rig/read-stream.js";

const skipped = await whyWithoutDatabase();
if (skipped !== undefined) console.warn(`Skipped: ${skipped}`);

const CHEAP = 17_000_000n;
const SOON = { timeout: 60_000, interval: 250 };
const ring = parseKeyRing(`k1:${randomBytes(32).toString("base64")}`);
/** What LiteLLM itself allows these accounts' keys. */
const LIMITS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  broke: { max_budget: 0.00001 },
  only: { models: ["cheap"] },
};

function makeKeys(database: PostgresDatabase, admin: Pick<LitellmAdmin, "registerKey">): KeyResolver {
  const store = createPostgresKeyStore(database);
  return generatedKeys({ store, ring, admin, limitsOf: (account) => LIMITS[account] ?? {} });
}

describe.skipIf(skipped !== undefined)("model calls through a real LiteLLM with its database", () => {
  let rig: DatabaseRig;
  let scene: MeteredScene;
  let admin: LitellmAdmin;
  let run: MeteredRun;
  beforeAll(async () => {
    rig = await startDatabaseRig();
    admin = createLitellmAdmin({ baseUrl: rig.litellm.url, serviceKey: MASTER_KEY });
    scene = await openMeteredScene({
      rig,
      serviceKey: MASTER_KEY,
      keysOf: (database) =>
        withSystemTenant(makeKeys(database, admin), {
          isSystemAccount: (account) => account === "system",
          serviceKey: MASTER_KEY,
        }),
      sourceOf: () => createSpendLogSource({ admin }),
    });
  }, 600_000);
  // The scene takes its LiteLLM along.
  afterAll(() => (scene ? scene.close() : rig?.stop()));
  beforeEach(() => {
    run = scene.newRun("ann");
    scene.told.length = 0;
  });

  const tokenOf = (account: string) => scene.keys.resolveKey(`vk-${account}`, account);
  const keysNamed = async (alias: string) => (await rig.litellmKeys()).filter((key) => key.alias === alias);
  const rowsOf = (count: number, of = run) =>
    expect.poll(async () => (await rig.spendLogs(of.runId)).length, SOON).toBe(count);

  async function expectToAgree(of: MeteredRun, keyHash?: string): Promise<void> {
    const account = of.caller.billingAccountId;
    await expectReceiptsOf(await rig.spendLogs(of.runId), {
      ledger: scene.ledger,
      runId: of.runId,
      account,
      keyHash: keyHash ?? hashKey(await tokenOf(account)),
    });
  }

  /** Sends a request that no meter sees. */
  function send(path: string, key: string, body: object): Promise<Response> {
    return fetch(`${rig.litellm.url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  }

  const begin = async (of: MeteredRun) =>
    readSome(await scene.call(of, "tokens=100 delay=50", { stream: true }), 5);

  const states = async (of: MeteredRun) =>
    (
      await Promise.all(
        (["in_doubt", "settled", "unresolved"] as const).map((state) =>
          scene.ledger.list({ state, olderThanMs: -60_000, limit: 1_000 }),
        ),
      )
    )
      .flat()
      .filter(({ runId }) => runId === of.runId)
      .map(({ state, evidence, reason }) => `${state} ${evidence ?? reason}`);

  async function readFacts(position?: string): Promise<readonly SpendFact[]> {
    const facts: SpendFact[] = [];
    for await (const batch of scene.source.read(position)) facts.push(...batch.facts);
    return facts;
  }

  describe("with a key that is made on first use", () => {
    it("get the same one from two instances at once, and LiteLLM has it once", async () => {
      const instances = [makeKeys(scene.database, admin), makeKeys(scene.database, admin)];
      const tokens = await Promise.all(
        [...instances, ...instances, ...instances].map((keys) => keys.resolveKey("vk-new", "new")),
      );
      expect(new Set(tokens).size).toBe(1);
      expect(await keysNamed("throughline:new:vk-new")).toMatchObject([
        {
          token: hashKey(tokens[0] ?? ""),
          metadata: { billingAccountId: "new", virtualKeyId: "vk-new" },
        },
      ]);
    });

    it("get it though the instance that made it died before LiteLLM knew it, or before it noted so", async () => {
      const died = async () => {
        throw new Error("died");
      };
      const dying = makeKeys(scene.database, { registerKey: died });
      await expect(dying.resolveKey("vk-late", "late")).rejects.toThrow("died");
      expect(await keysNamed("throughline:late:vk-late")).toEqual([]);
      const registering = makeKeys(scene.database, {
        registerKey: (key) => admin.registerKey(key).then(died),
      });
      await expect(registering.resolveKey("vk-late", "late")).rejects.toThrow("died");
      const token = await tokenOf("late");
      expect(await keysNamed("throughline:late:vk-late")).toMatchObject([{ token: hashKey(token) }]);
      const late = scene.newRun("late");
      expect((await scene.call(late, "plain")).status).toBe(200);
    });

    it("are refused by LiteLLM a model that the key does not have, and cost nothing", async () => {
      const token = await tokenOf("narrowed");
      const narrowed = scene.newRun("narrowed");
      expect((await scene.call(narrowed, "plain", { model: "dear" })).status).toBe(200);
      expect((await send("/key/update", MASTER_KEY, { key: token, models: ["cheap"] })).status).toBe(200);
      // Our list is a minute old at most, so it is LiteLLM that refuses.
      const refused = await scene.call(narrowed, "plain", { model: "dear" });
      expect([refused.status, await refused.json()]).toMatchObject([
        403,
        { error: { type: "key_model_access_denied" } },
      ]);
      expect(scene.told.at(-1)).toBe("priced 0 refused");
      // It was asked for its list again.
      expect((await scene.call(narrowed, "plain", { model: "dear" })).status).toBe(400);
      expect(scene.told.at(-1)).toBe("refused model_not_allowed");
    });

    it("are offered the models that the key was made with", async () => {
      const { caller } = scene.newRun("only");
      expect((await scene.billing.modelsOf(caller)).models.map(({ id }) => id)).toEqual(["cheap"]);
    });

    it("are refused by LiteLLM over its own budget for the key, and cost nothing", async () => {
      const broke = scene.newRun("broke");
      expect((await scene.call(broke, "crosses it")).status).toBe(200);
      const refused = await scene.call(broke, "over it");
      expect([refused.status, await refused.json()]).toMatchObject([
        422,
        { error: { type: "budget_exceeded" } },
      ]);
      expect(scene.told).toEqual([`priced ${CHEAP} response_header`, "priced 0 refused"]);
      expect((await scene.ledger.billOf(broke.runId)).amount).toBe(CHEAP);
    });
  });

  describe("are found in its spend logs", () => {
    it("as they were charged, by time and by unit alike", async () => {
      await (await scene.call(run, "plain")).text();
      await (await scene.call(run, "tokens=7", { stream: true })).text();
      await (await scene.call(run, `status=500 ${randomUUID()}`)).text();
      await (await scene.call(run, `status=500 times=1 ${randomUUID()}`, { model: "flaky" })).text();
      await (
        await scene.call(run, "chatonly", { model: "chatonly", path: "/messages", body: { max_tokens: 9 } })
      ).text();
      await rowsOf(5);
      await expectToAgree(run);
      const rows = await rig.spendLogs(run.runId);
      const byTime = (await readFacts()).filter(({ labels }) => labels.runId === run.runId);
      const byUnit = await scene.source.factsOf?.(rows.map(({ call_id }) => call_id));
      const byCall = (facts: readonly SpendFact[] = []) =>
        [...facts].sort((one, other) => one.callId.localeCompare(other.callId));
      expect(byCall(byUnit)).toEqual(byCall(byTime));
      expect(byTime.map(({ callId, spend }) => [callId, spend]).sort()).toEqual(
        rows.map((row) => [row.call_id, BigInt(Math.round(row.spend * 1e12))]).sort(),
      );
      expect(await scene.reconcileNow()).toMatchObject({ charged: 0, corrected: 0, unclaimed: 0 });
    });

    it("by when they ended, however long they took", async () => {
      await (await scene.call(run, "tokens=60 delay=50", { stream: true })).text();
      await rowsOf(1);
      const endedAt = (await readFacts()).find(({ labels }) => labels.runId === run.runId)?.endedAt ?? 0;
      const clock = createSimulatedClock(endedAt + 180_000);
      const source = createSpendLogSource({ admin, clock });
      // It started before what is read again, and ended in it.
      const position = String(endedAt - 1_000 + 120_000);
      const found: string[] = [];
      for await (const { facts } of source.read(position))
        found.push(...facts.flatMap(({ labels }) => labels.runId ?? []));
      expect(found).toContain(run.runId);
    });

    it("when their stream was stopped, and are charged what LiteLLM charges, once", async () => {
      await (await begin(run)).cancel();
      expect(scene.told).toEqual(["doubted cancelled"]);
      expect(await states(run)).toEqual(["in_doubt cancelled"]);
      await rowsOf(1);
      expect(await scene.reconcileNow()).toMatchObject({ charged: 1 });
      expect(await states(run)).toEqual(["settled spend_log"]);
      await expectToAgree(run);
      expect((await scene.ledger.billOf(run.runId)).amount).toBeGreaterThan(0n);
      expect(await scene.reconcileNow()).toMatchObject({ charged: 0, corrected: 0 });
    });

    it("when the system tenant makes them, under LiteLLM's own name for its master key", async () => {
      const system = scene.newRun("system");
      await (await begin(system)).cancel();
      await rowsOf(1, system);
      await scene.reconcileNow({ masterKeyHash: hashKey(MASTER_KEY) });
      expect(await states(system)).toEqual(["settled spend_log"]);
      await expectToAgree(system, "litellm_proxy_master_key");
    });

    it("when they went past the meter, and are listed", async () => {
      await (await scene.call(run, "metered")).text();
      const body = { model: "cheap", messages: [{ role: "user", content: "past the meter" }] };
      const response = await send("/v1/chat/completions", await tokenOf("ann"), body);
      const { id }: { id: string } = JSON.parse(await response.text());
      const unclaimedAfterPass = async () => {
        await scene.reconcileNow();
        return (await scene.facts.unclaimed(10)).map(({ requestId }) => requestId);
      };
      await expect.poll(unclaimedAfterPass, SOON).toEqual([id]);
    });
  });

  it("that die with LiteLLM are waited for until it is back with its database, then listed", async () => {
    expect(await scene.source.isComplete()).toBe(true);
    const reader = await begin(run);
    await rig.litellm.kill();
    await readOut(reader);
    await expect.poll(() => scene.told).toEqual(["doubted truncated"]);
    expect(await scene.source.isComplete()).toBe(false);
    await expect(scene.reconcileNow()).rejects.toMatchObject({ code: "upstream_unavailable" });
    expect(await states(run)).toEqual(["in_doubt truncated"]);
    await rig.litellm.start();
    await scene.reconcileNow();
    expect(await states(run)).toEqual(["unresolved no_evidence"]);
  }, 600_000);
});
