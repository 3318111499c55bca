import { randomBytes, randomUUID } from "node:crypto";
import { createPostgresKeyStore, parseKeyRing, storedKeys } from "@throughline/billing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AskedRun, type BilledService, startBilledService } from "./rig/billed-service.js";
import { type DatabaseRig, MASTER_KEY, startDatabaseRig, whyWithoutDatabase } from "./rig/database-rig.js";
import { expectNoKeys } from "./rig/expect-no-keys.js";
import { expectReceiptsOf } from "./rig/expect-receipts.js";

const skipped = await whyWithoutDatabase();
if (skipped !== undefined) console.warn(`Skipped: ${skipped}`);

const KEY_SECRETS = `k1:${randomBytes(32).toString("base64")}`;
const SOON = { timeout: 90_000, interval: 250 };

describe.skipIf(skipped !== undefined)("the service with a LiteLLM that has its database", () => {
  let rig: DatabaseRig;
  let service: BilledService;
  beforeAll(async () => {
    rig = await startDatabaseRig();
    service = await startBilledService({
      rig,
      instances: 2,
      leaseMs: 1_500,
      reapEveryMs: 300,
      settings: async () => ({
        LITELLM_API_KEY: MASTER_KEY,
        LITELLM_VIRTUAL_KEYS: "",
        THROUGHLINE_SPEND_LOG: "",
        THROUGHLINE_MAKE_KEYS: "yes",
        THROUGHLINE_KEY_SECRETS: KEY_SECRETS,
      }),
    });
  }, 600_000);
  // The service takes its LiteLLM along.
  afterAll(() => (service ?? rig)?.stop());

  /** Asks for a run, whose id LiteLLM's rows then tell by that of its request. */
  function ask(plan: string, options: Omit<AskedRun, "prompt"> = {}) {
    const requestId = `req-${randomUUID()}`;
    return { requestId, ended: service.run({ ...options, prompt: `${requestId} ${plan}`, requestId }) };
  }

  async function runOf(requestId: string): Promise<string> {
    const rowOf = async () => (await rig.spendLogs()).find(({ labels }) => labels.requestId === requestId);
    await expect.poll(rowOf, SOON).toBeDefined();
    return String((await rowOf())?.labels.runId);
  }

  async function keysOf(account: string) {
    return (await rig.litellmKeys()).filter(({ metadata }) => metadata.billingAccountId === account);
  }

  /** All units of the run have their price, and the receipts are what LiteLLM's table has. */
  async function expectToAgree(runId: string, account: string, calls: number): Promise<void> {
    await expect.poll(async () => (await rig.spendLogs(runId)).length, SOON).toBe(calls);
    await expect
      .poll(async () => (await service.units(runId)).map(({ state }) => state), SOON)
      .toEqual(Array(calls).fill("settled"));
    const [key] = await keysOf(account);
    const rows = await rig.spendLogs(runId);
    await expectReceiptsOf(rows, { ledger: service.ledger, runId, account, keyHash: key?.token ?? "" });
  }

  const isUnderWay = () => service.upstream.calls.some(({ outcome, sent }) => outcome === "open" && sent > 3);

  it("makes an account's key on its first runs, one for both instances, and charges it", async () => {
    const asked = [0, 1, 0, 1].map((instance) => ask("tokens=3", { account: "acme", instance }));
    for (const { ended } of asked) expect((await ended).events.at(-1)).toEqual({ type: "done" });
    expect(await keysOf("acme")).toMatchObject([
      { alias: "throughline:acme:vk-acme", metadata: { virtualKeyId: "vk-acme" } },
    ]);
    for (const { requestId } of asked) await expectToAgree(await runOf(requestId), "acme", 1);
  });

  it("charges two tenants at once what LiteLLM_SpendLogs has, each under its own key", async () => {
    const plans = [
      { graph: "looper", plan: "tools=2 tokens=3", calls: 3 },
      { graph: "pair", plan: "tokens=4", calls: 2 },
      { graph: "poet", plan: "tokens=5", calls: 1 },
    ];
    const asked = ["ann", "bob"].flatMap((account, instance) =>
      plans.map(({ graph, plan, calls }) => ({
        ...ask(plan, { account, graph, instance }),
        account,
        calls,
      })),
    );
    for (const { ended, requestId, account, calls } of asked) {
      expect((await ended).events.at(-1)).toEqual({ type: "done" });
      await expectToAgree(await runOf(requestId), account, calls);
    }
  });

  it("charges a run that is stopped in mid-stream what LiteLLM charges for it", async () => {
    const thread = `stopped-${randomUUID()}`;
    const { requestId, ended } = ask("tokens=200 delay=20", { thread });
    await expect.poll(isUnderWay, SOON).toBe(true);
    const stop = await service.request(`/api/copilotkit/agent/stranger/stop/${thread}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    expect(stop.status).toBe(200);
    expect((await ended).events.find(({ type }) => type === "usage_report")).toMatchObject({
      complete: false,
    });
    const runId = await runOf(requestId);
    await expectToAgree(runId, "ann", 1);
    expect(await service.units(runId)).toMatchObject([{ evidence: "spend_log" }]);
  });

  it("charges a run both calls when an instance is killed in the first and another recovers it", async () => {
    const { requestId, ended } = ask("tokens=200 delay=20");
    const left = expect(ended).rejects.toThrow();
    await expect.poll(isUnderWay, SOON).toBe(true);
    await service.servers[0]?.kill();
    await left;
    const runId = await runOf(requestId);
    await expectToAgree(runId, "ann", 2);
    const units = await service.units(runId);
    expect(units.map(({ attempt, evidence }) => [attempt, evidence]).sort()).toEqual([
      [0, "spend_log"],
      [1, "last_event"],
    ]);
    await service.servers[0]?.restart();
  });

  it("never writes a key that it made", async () => {
    const keys = storedKeys(
      createPostgresKeyStore({ pool: service.pool, schema: "throughline" }),
      parseKeyRing(KEY_SECRETS),
    );
    const made = await Promise.all(
      ["acme", "ann", "bob"].map((account) => keys.resolveKey(`vk-${account}`, account)),
    );
    await expectNoKeys(service, [MASTER_KEY, ...made]);
  });

  it("leaves no row of its keys that no unit claims, and no call without a price", async () => {
    expect(await service.facts.unclaimed(10)).toEqual([]);
    expect((await service.units()).filter(({ state }) => state !== "settled")).toEqual([]);
  });
});
