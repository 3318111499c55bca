import { randomUUID } from "node:crypto";
import { hashKey } from "@throughline/billing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ensureLitellm } from "../../scripts/ensure-litellm.mjs";
import { seededRandom } from "../server/rig/seeded-random.js";
import { SEED, trialsOr } from "../server/rig/trials.js";
import { type AskedEnd, type BilledService, startBilledService } from "./rig/billed-service.js";
import { expectNoKeys } from "./rig/expect-no-keys.js";
import { expectReceiptsOf } from "./rig/expect-receipts.js";
import { SERVICE_KEY, TOKENS } from "./rig/litellm-rig.js";

const missing = await ensureLitellm();
if (missing !== undefined && process.env.CI === "true") throw new Error(missing);
if (missing !== undefined) console.warn(`Skipped: ${missing}`);

/** 11 prompt and 3 completion tokens, in dollars. */
const CHEAP = 0.000017;
const DEAR = 0.0002;

const textOf = ({ events }: AskedEnd) =>
  events.flatMap((event) => (event.type === "text_delta" ? [event.delta] : [])).join("");
const reportOf = ({ events }: AskedEnd) => events.find(({ type }) => type === "usage_report");

describe.skipIf(missing !== undefined)("the service with a real LiteLLM", () => {
  let service: BilledService;
  beforeAll(async () => {
    service = await startBilledService();
  }, 300_000);
  afterAll(() => service?.stop());

  /** A run that is found by its request's id: in LiteLLM's log, and in the ledger by its run's. */
  async function asked(
    plan: string,
    options: Omit<Parameters<BilledService["run"]>[0], "prompt"> = {},
  ): Promise<AskedEnd & { readonly runId: string }> {
    const requestId = `req-${randomUUID()}`;
    const end = await service.run({ ...options, prompt: `${requestId} ${plan}`, requestId });
    const rowOf = () => service.logged().find(({ labels }) => labels.requestId === requestId);
    await expect.poll(rowOf, { timeout: 20_000 }).toBeDefined();
    return { ...end, runId: String(rowOf()?.labels.runId) };
  }

  /** The run's receipts are what LiteLLM recorded, under its tenant's key, with its labels, each once. */
  async function expectToAgree(runId: string, account = "ann", calls = 1): Promise<void> {
    await expect.poll(() => service.logged(runId).length, { timeout: 20_000 }).toBe(calls);
    const keyHash = hashKey(TOKENS[account] ?? "");
    await expectReceiptsOf(service.logged(runId), { ledger: service.ledger, runId, account, keyHash });
  }

  describe("a run", () => {
    it("is told as text_delta* → usage_report → done, with what it cost", async () => {
      const end = await asked("tokens=3");
      const kinds = end.events.map(({ type }) => type);
      expect(kinds.join(" ")).toMatch(/^(text_delta )+usage_report assistant_final done$/);
      expect(textOf(end)).toBe("w0 w1 w2");
      expect(reportOf(end)).toMatchObject({
        costUsd: CHEAP,
        complete: true,
        inputTokens: 11,
        outputTokens: 3,
        executorType: "inproc",
      });
      await expectToAgree(end.runId);
    });

    it("of a graph that ships takes model and key from the run", async () => {
      const end = await asked("tokens=3", { graph: "poet", model: "dear", account: "bob" });
      expect(reportOf(end)).toMatchObject({ costUsd: DEAR, complete: true });
      await expectToAgree(end.runId, "bob");
      expect(service.logged(end.runId)[0]?.model_group).toBe("dear");
    });

    it("brings requestId and traceId from the request to LiteLLM", async () => {
      const traceId = randomUUID().replaceAll("-", "");
      const end = await asked("tokens=2", { traceId });
      expect(service.logged(end.runId)[0]?.labels).toMatchObject({
        requestId: expect.stringMatching(/^req-/),
        traceId: expect.stringContaining(traceId),
      });
    });

    it("leaves one charge_receipts row per call, in the loop of its tools", async () => {
      const end = await asked("tools=2 tokens=3", { graph: "looper" });
      expect(reportOf(end)).toMatchObject({ complete: true, inputTokens: 33 });
      await expectToAgree(end.runId, "ann", 3);
      const { rows } = await service.pool.query(
        "select source_system, source_reference from throughline.charge_receipts where run_id = $1",
        [end.runId],
      );
      expect(rows.map((row) => row.source_reference).sort()).toEqual(
        (await service.units(end.runId)).map(({ unitId }) => unitId).sort(),
      );
      expect(new Set(rows.map((row) => row.source_system))).toEqual(new Set(["litellm"]));
    });

    it("sums what subgraphs side by side have cost", async () => {
      const end = await asked("tokens=3", { graph: "pair" });
      expect(reportOf(end)).toMatchObject({ costUsd: 0.000217, complete: true });
      await expectToAgree(end.runId, "ann", 2);
    });

    it("that is stopped in mid-stream is charged what LiteLLM charges for it, once reconciled", async () => {
      const thread = `stopped-${randomUUID()}`;
      const running = asked("tokens=200 delay=20", { thread });
      await expect
        .poll(() => service.upstream.calls.some(({ outcome, sent }) => outcome === "open" && sent > 3), {
          timeout: 20_000,
        })
        .toBe(true);
      const stop = await service.request(`/api/copilotkit/agent/stranger/stop/${thread}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: "{}",
      });
      expect(stop.status).toBe(200);
      const end = await running;
      expect(reportOf(end)).toMatchObject({ complete: false });
      await expect
        .poll(async () => (await service.units(end.runId)).map(({ state }) => state), { timeout: 90_000 })
        .toEqual(["settled"]);
      await expectToAgree(end.runId);
    });

    it("whose provider fails in mid-stream fails, and its library's repetition is a unit of its own", async () => {
      const end = await asked("tokens=6 failAfter=2 mode=error");
      expect(end.events.at(-1)).toMatchObject({ type: "error", code: "run_failed" });
      const units = await service.units(end.runId);
      expect(units.length).toBeGreaterThanOrEqual(1);
      await expect
        .poll(async () => (await service.units(end.runId)).every(({ state }) => state !== "in_doubt"), {
          timeout: 90_000,
        })
        .toBe(true);
      expect(await service.ledger.receipts(end.runId)).toHaveLength(
        (await service.units(end.runId)).filter(({ state }) => state === "settled").length,
      );
    });
  });

  it("in a thread of the account is charged to the person who asked", async () => {
    const subject = `person-${randomUUID()}`;
    const end = await asked("tokens=3", { subject, visibility: "account", thread: `shared-${randomUUID()}` });
    expect(reportOf(end)).toMatchObject({ costUsd: CHEAP });
    expect((await service.units(end.runId)).map((unit) => unit.subject)).toEqual([subject]);
  });

  describe("a model", () => {
    it("that is not on the tenant's list is refused by name before anything runs", async () => {
      const calls = service.upstream.calls.length;
      const end = await service.run({ account: "only", prompt: "dear, please", model: "dear" });
      expect(end.status).toBe(400);
      expect(end.problem).toMatchObject({
        code: "model_not_allowed",
        details: { model: "dear", allowed: ["cheap", "flaky"] },
      });
      expect(service.upstream.calls).toHaveLength(calls);
    });

    it("that only the graph names, and the list does not, fails the run and costs nothing", async () => {
      const calls = service.upstream.calls.length;
      const end = await service.run({ graph: "unlisted", prompt: "whatever" });
      expect(end.events.at(-1)).toMatchObject({ type: "error" });
      expect(service.upstream.calls).toHaveLength(calls);
    });

    it("is refused to an account without a key that LiteLLM knows", async () => {
      expect((await service.run({ account: "forged", prompt: "hello" })).status).toBe(403);
      expect((await service.run({ account: "unheard-of", prompt: "hello" })).status).toBe(403);
    });
  });

  it("over its budget an account is refused with 402 and what to do, on every way in, and nothing is sent", async () => {
    const put = (body: object) =>
      service.request("/budgets", {
        method: "PUT",
        account: "broke",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    expect((await put({ day: "0.00001" })).status).toBe(200);
    // The call that crosses the limit is made and charged: its price is known after it.
    expect((await service.run({ account: "broke", prompt: "tokens=3" })).status).toBe(200);
    const calls = service.upstream.calls.length;
    const end = await service.run({ account: "broke", prompt: "tokens=3" });
    expect(end.status).toBe(402);
    expect(end.problem).toMatchObject({
      code: "budget_exceeded",
      message: expect.stringContaining("0.000017 of 0.00001 USD"),
    });
    const agUi = await service.request("/api/copilotkit/agent/stranger/run", {
      method: "POST",
      account: "broke",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        threadId: randomUUID(),
        runId: randomUUID(),
        messages: [{ id: randomUUID(), role: "user", content: "tokens=3" }],
        state: {},
        tools: [],
        context: [],
        forwardedProps: {},
      }),
    });
    expect(agUi.status).toBe(402);
    expect(service.upstream.calls).toHaveLength(calls);
  });

  it("two tenants at once, in every order, are charged their own calls under their own keys", async () => {
    const before = new Set((await service.units()).map(({ unitId }) => unitId));
    const random = seededRandom(SEED);
    const graphs = ["stranger", "looper", "pair", "poet"];
    const runs = Array.from({ length: trialsOr(24) }, (_, index) => ({
      account: index % 2 === 0 ? "ann" : "bob",
      graph: graphs[Math.floor(random() * graphs.length)] ?? "stranger",
      plan: `tokens=${1 + Math.floor(random() * 6)} tools=1 delay=${Math.floor(random() * 8)}`,
    }));
    const ends = await Promise.all(
      runs.map(async ({ account, graph, plan }, index) => {
        await new Promise((resolve) => setTimeout(resolve, Math.floor(random() * 400)));
        const end = await service.run({ account, graph, prompt: `of-${account} ${index} ${plan}` });
        return { account, end };
      }),
    );
    for (const { end } of ends) expect(end.events.at(-1)).toEqual({ type: "done" });
    const units = (await service.units()).filter(({ unitId }) => !before.has(unitId));
    expect(units.length).toBeGreaterThan(runs.length);
    await expect
      .poll(() => new Set(service.logged().map(({ call_id }) => call_id)).size, { timeout: 30_000 })
      .toBeGreaterThanOrEqual(before.size + units.length);
    for (const unit of units) {
      expect(unit.keyHash).toBe(hashKey(TOKENS[unit.account] ?? ""));
      const rows = service.logged().filter(({ call_id }) => call_id === unit.unitId);
      expect(rows.map((row) => [row.key_hash, row.labels.accountId, row.labels.virtualKeyId])).toEqual([
        [unit.keyHash, unit.account, `vk-${unit.account}`],
      ]);
    }
  }, 120_000);

  it("never writes a key: not to checkpoints, the log, the registry or its own output", async () => {
    await asked("tokens=2");
    await expectNoKeys(service, [SERVICE_KEY, ...Object.values(TOKENS)]);
  });
});
