import { ThroughlineError } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { createBilling } from "./billing.js";
import { environmentKeys, hashKey } from "./keys/resolvers.js";
import { createMemoryBudgetStore, createMemoryFactStore, createMemoryLedgerStore } from "./memory.js";

import { withMeteredRun } from "./meter/metered-fetch.js";

import { growingLog } from "./testing/growing-log.js";
import { type Answer, errorAnswer, plainAnswer } from "./testing/litellm-answers.js";
import { madeFact, madeLabels } from "./testing/made-fact.js";
import { madeRun } from "./testing/made-run.js";
import { madeUnit } from "./testing/made-unit.js";

const CHAT = "http://litellm.test/v1/chat/completions";
/** The call of a run on a LangGraph server. */
const server = madeUnit({ runId: "run-there", executorType: "langgraph_server" });

function scene() {
  const told: string[] = [];
  const state: { answer: Answer; models: string[]; isDown: boolean } = {
    answer: plainAnswer(),
    models: ["cheap", "flaky"],
    isDown: false,
  };
  const ledger = createMemoryLedgerStore();
  const budgets = createMemoryBudgetStore();
  const log = growingLog();
  const asked: string[] = [];
  const billing = createBilling({
    baseUrl: "http://litellm.test/v1",
    serviceKey: "sk-service",
    admin: {
      async read(_path, _query, key) {
        asked.push(key ?? "");
        if (state.isDown) throw new ThroughlineError("upstream_unavailable", "away");
        return { data: state.models.map((model_group) => ({ model_group })) };
      },
      registerKey: async () => {},
    },
    keys: environmentKeys('{"vk-a":"sk-a"}'),
    ledger,
    facts: createMemoryFactStore(),
    budgets,
    sources: [log],
    adopt: async (labels) =>
      labels.runId === server.runId ? { ...server, unitId: labels.usageUnitId } : undefined,
    send: async () => state.answer(),
    observer: {
      nearBudget: (_, { kind }) => told.push(kind),
      servedUnlisted: (_, model) => told.push(`unlisted ${model}`),
      priced: (_, { amount }) => told.push(`priced ${amount}`),
      pricedByLog: ({ runId }, { amount }) => told.push(`log ${runId} ${amount}`),
    },
  });
  const run = madeRun("a");
  const call = (model = "cheap") =>
    withMeteredRun(run, () => billing.fetch(CHAT, { method: "POST", body: JSON.stringify({ model }) }));
  return { told, state, ledger, budgets, log, asked, billing, run, call };
}

describe("billing put together", () => {
  it("lets a run start with a model of its tenant's list, and no other", async () => {
    const { billing, run, asked } = scene();
    await billing.requireStart(run.caller, "cheap");
    await expect(billing.requireStart(run.caller, "dear")).rejects.toMatchObject({
      code: "model_not_allowed",
      details: { allowed: ["cheap", "flaky"] },
    });
    expect((await billing.modelsOf(run.caller)).models.map(({ id }) => id)).toEqual(["cheap", "flaky"]);
    expect(asked).toEqual(["sk-a"]);
  });

  it("checks the model of each call too", async () => {
    const { call, ledger, run } = scene();
    expect((await call("dear")).status).toBe(400);
    expect((await call("cheap")).status).toBe(200);
    expect((await ledger.billOf(run.runId)).calls).toBe(1);
  });

  it("refuses calls while it has never seen the list", async () => {
    const { call, state } = scene();
    state.isDown = true;
    expect((await call()).status).toBe(503);
  });

  it("asks for the list again when LiteLLM refuses a model that is on it", async () => {
    const { call, state } = scene();
    await call();
    state.models = ["other"];
    state.answer = errorAnswer(403);
    expect((await call()).status).toBe(403);
    expect((await call()).status).toBe(400);
  });

  it("counts its own charges against the budget, and warns before it is used up", async () => {
    const { call, budgets, billing, run, told } = scene();
    await budgets.set("a", undefined, { day: 34_000_000n, month: null, softPercent: 50 });
    await call();
    await call();
    expect(told).toEqual(["priced 17000000", "near", "priced 17000000"]);
    expect((await call()).status).toBe(402);
    await expect(billing.requireStart(run.caller, "cheap")).rejects.toMatchObject({
      code: "budget_exceeded",
    });
  });

  it("tells of a fallback to a model that is not on the list", async () => {
    const { call, state, told } = scene();
    state.answer = plainAnswer({ "x-litellm-model-group": "dear" });
    await call("flaky");
    state.answer = plainAnswer({ "x-litellm-model-group": "cheap" });
    await call("flaky");
    await expect.poll(() => told.filter((line) => line.startsWith("unlisted"))).toEqual(["unlisted dear"]);
  });

  it("reconciles over its sources, also without a price list", async () => {
    const { billing, call, ledger, log, run, state, told } = scene();
    state.answer = errorAnswer(502);
    await call();
    const [unit] = await ledger.list({ state: "in_doubt", olderThanMs: 0, limit: 1 });
    if (!unit) throw new Error("no unit in doubt");
    expect(unit.keyHash).toBe(hashKey("sk-a"));
    log.rows.push(madeFact(unit));
    state.isDown = true;
    expect(await billing.reconcile()).toMatchObject([{ charged: 1 }]);
    expect(await ledger.billOf(run.runId)).toMatchObject({ unpriced: 0, amount: 17_000_000n });
    expect(told).toEqual([`log ${run.runId} 17000000`]);
  });

  it("charges the calls of LangGraph servers to the runs that it is told of, and tells of them", async () => {
    const { billing, ledger, log, told } = scene();
    const stray = madeUnit({ executorType: "langgraph_server" });
    log.rows.push(
      madeFact(server, { labels: madeLabels(server) }),
      madeFact(stray, { labels: madeLabels(stray) }),
    );
    expect(await billing.reconcile()).toMatchObject([{ adopted: 1, charged: 1, unclaimed: 1 }]);
    expect(await billing.reconcile()).toMatchObject([{ adopted: 0, charged: 0 }]);
    expect(await ledger.billOf(server.runId)).toMatchObject({ calls: 1, amount: 17_000_000n });
    expect(told).toEqual(["log run-there 17000000"]);
  });
});
