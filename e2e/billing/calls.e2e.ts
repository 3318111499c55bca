import { randomUUID } from "node:crypto";
import { ChatOpenAI as StrangersModel } from "@langchain/openai";
import {
  createPostgresBudgetStore,
  installFetch,
  type MeteredRun,
  withMeteredRun,
} from "@throughline/billing";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ensureLitellm } from "../../scripts/ensure-litellm.mjs";
import { chargedRun } from "./rig/charged-run.js";
import { TOKENS } from "./rig/litellm-rig.js";
import { type MeteredScene, openMeteredScene } from "./rig/metered-scene.js";
import { readOut, readSome } from "./rig/read-stream.js";

const missing = await ensureLitellm();
if (missing !== undefined && process.env.CI === "true") throw new Error(missing);
if (missing !== undefined) console.warn(`Skipped: ${missing}`);

/** 11 prompt and 3 completion tokens, in picodollars. */
const CHEAP = 17_000_000n;
const DEAR = 200_000_000n;

describe.skipIf(missing !== undefined)("model calls through a real LiteLLM", () => {
  let scene: MeteredScene;
  let run: MeteredRun;
  beforeAll(async () => {
    scene = await openMeteredScene();
  }, 300_000);
  afterAll(() => scene?.close());
  beforeEach(() => {
    run = scene.newRun("ann");
    scene.told.length = 0;
  });

  const unitsOf = (of: MeteredRun) => chargedRun(scene, of).units();
  const expectToAgree = (of: MeteredRun) => chargedRun(scene, of).expectToAgree();
  const rowsOf = (count: number, of = run) => chargedRun(scene, of).untilLogged(count);
  const expectToBeReconciled = (rows: number) => chargedRun(scene, run).expectToBeReconciled(rows);

  async function statesAfterPass(): Promise<readonly string[]> {
    await scene.reconcileNow();
    return (await unitsOf(run)).map(({ state }) => state);
  }

  describe("that come to their end", () => {
    it("are charged when plain", async () => {
      expect((await scene.call(run, "plain")).status).toBe(200);
      expect(scene.told).toEqual([`priced ${CHEAP} response_header`]);
      await rowsOf(1);
      await expectToAgree(run);
    });

    it("are charged when streamed, before the stream ends", async () => {
      await (await scene.call(run, "streamed tokens=7", { stream: true })).text();
      expect(scene.told).toEqual([`priced ${11_000_000n + 7n * 2_000_000n} last_event`]);
      await rowsOf(1);
      await expectToAgree(run);
    });

    it.each([
      ["the responses API", "/responses", { input: "responses", messages: undefined }],
      ["the messages API", "/messages", { max_tokens: 50 }],
    ])("are charged through %s, streamed and plain", async (_, path, body) => {
      const options = { path, body, model: "chatonly" };
      await (await scene.call(run, "face", { ...options, stream: true })).text();
      await (await scene.call(run, "face again", options)).text();
      expect(scene.told).toEqual([`priced ${CHEAP} last_event`, `priced ${CHEAP} response_header`]);
      await rowsOf(2);
      await expectToAgree(run);
    });

    it("are one unit when LiteLLM itself tries again", async () => {
      const prompt = `status=500 times=1 ${randomUUID()}`;
      await (await scene.call(run, prompt, { body: { num_retries: 2 } })).text();
      await rowsOf(2);
      expect(await unitsOf(run)).toMatchObject([{ seen: { retries: 1 }, billed: CHEAP }]);
      await expectToAgree(run);
    });

    it.each([false, true])(
      "are charged by the model that a fallback chose (streamed: %s)",
      async (stream) => {
        await (
          await scene.call(run, `status=500 times=1 ${randomUUID()}`, { model: "flaky", stream })
        ).text();
        expect(scene.told).toContain("served dear");
        expect(await unitsOf(run)).toMatchObject([
          { model: "flaky", billed: DEAR, seen: { servedModel: "dear" } },
        ]);
        await rowsOf(2);
        await expectToAgree(run);
      },
    );

    it("cost nothing when they come from the cache, plain and streamed", async () => {
      const body = { cache: { "use-cache": true } };
      for (const stream of [false, false, true, true]) {
        await (await scene.call(run, `cached ${run.runId}`, { stream, body })).text();
        // A stream is put into the cache after its end.
        await rowsOf((await unitsOf(run)).length);
      }
      const amounts = scene.told.map((line) => line.split(" ")[1]);
      expect(amounts[0]).toBe(String(CHEAP));
      expect(scene.told.filter((line) => line === "priced 0 cache_hit").length).toBeGreaterThanOrEqual(1);
      await expectToAgree(run);
    });

    it("stay without a price when LiteLLM has none, and are listed", async () => {
      await (await scene.call(run, "unpriced", { model: "unpriced" })).text();
      await (await scene.call(run, "unpriced", { model: "unpriced", stream: true })).text();
      expect(scene.told).toEqual(["doubted unpriced", "doubted unpriced"]);
      await rowsOf(2);
      await expect.poll(statesAfterPass).toEqual(["unresolved", "unresolved"]);
      expect(await scene.ledger.receipts(run.runId)).toEqual([]);
    });
  });

  describe("that fail", () => {
    it.each([500, 429, 400])("cost nothing before the first token (%i)", async (status) => {
      const response = await scene.call(run, `status=${status}`);
      expect(response.status).toBe(status);
      expect(scene.told).toEqual(["priced 0 refused"]);
      await rowsOf(1);
      await expectToAgree(run);
    });

    it.each(["cut", "error"])("after tokens are charged as LiteLLM does (%s)", async (mode) => {
      const response = await scene.call(run, `tokens=10 failAfter=4 delay=20 mode=${mode}`, { stream: true });
      await response.text().catch(() => undefined);
      expect(scene.told[0]).toMatch(/^doubted (stream_error|truncated)$/);
      await expectToBeReconciled(1);
      expect((await scene.ledger.billOf(run.runId)).amount).toBeGreaterThan(0n);
    });

    it("by a timeout before the first byte cost nothing", async () => {
      expect((await scene.call(run, "first=4000", { model: "timeouty" })).status).toBe(408);
      expect(scene.told).toEqual(["priced 0 refused"]);
      await rowsOf(1);
      await expectToAgree(run);
    });

    it("by a timeout in mid-stream are charged as LiteLLM does", async () => {
      const response = await scene.call(run, "tokens=6 failAfter=3 mode=hang", {
        model: "timeouty",
        stream: true,
      });
      await response.text().catch(() => undefined);
      await expectToBeReconciled(1);
    });

    it("by a key that LiteLLM does not know cost nothing", async () => {
      const forged = scene.newRun("forged");
      // The list of its models is refused already, so nothing is sent.
      const response = await scene.call(forged, "bad key");
      expect(response.status).toBe(401);
      expect(await unitsOf(forged)).toEqual([]);
    });

    it("by a key that LiteLLM no longer takes cost nothing", async () => {
      const broke = scene.newRun("broke");
      await (await scene.call(broke, "first")).text();
      const keys = { "sk-service-rig": {}, [TOKENS.ann ?? ""]: {}, [TOKENS.bob ?? ""]: {} };
      const rest = { [TOKENS.only ?? ""]: { models: ["cheap", "flaky"] } };
      scene.litellm.setKeys({ ...keys, ...rest, [TOKENS.broke ?? ""]: { over_budget: true } });
      expect((await scene.call(broke, "over budget")).status).toBe(422);
      scene.litellm.setKeys({ ...keys, ...rest });
      expect((await scene.call(broke, "revoked")).status).toBe(401);
      expect(scene.told.slice(1)).toEqual(["priced 0 refused", "priced 0 refused"]);
      await rowsOf(1, broke);
      await expectToAgree(broke);
    });
  });

  describe("that are left", () => {
    it("by an abort in mid-stream are charged as LiteLLM does", async () => {
      const controller = new AbortController();
      const response = await scene.call(run, "tokens=60 delay=50", {
        stream: true,
        signal: controller.signal,
      });
      await readSome(response, 5);
      controller.abort();
      await expect.poll(() => scene.told).toEqual(["doubted aborted"]);
      await expectToBeReconciled(1);
      expect(scene.upstream.calls.at(-1)?.outcome).toBe("gone");
    });

    it("by a reader that stops reading are charged as LiteLLM does", async () => {
      const reader = await readSome(await scene.call(run, "tokens=60 delay=50", { stream: true }), 5);
      await reader.cancel();
      expect(scene.told).toEqual(["doubted cancelled"]);
      await expectToBeReconciled(1);
    });

    it("when plain are charged in full, because the provider goes on", async () => {
      const controller = new AbortController();
      const calling = scene.call(run, `tokens=10 delay=100 ${run.runId}`, { signal: controller.signal });
      await expect.poll(() => scene.upstream.calls.some(({ text }) => text.includes(run.runId))).toBe(true);
      controller.abort();
      await expect(calling).rejects.toThrow();
      expect(scene.told).toEqual(["doubted aborted"]);
      await expectToBeReconciled(1);
      expect((await scene.ledger.billOf(run.runId)).amount).toBe(11_000_000n + 10n * 2_000_000n);
    });
  });

  describe("that are refused by us", () => {
    it("for a model that is not on the tenant's list never reach LiteLLM", async () => {
      const only = scene.newRun("only");
      const response = await scene.call(only, "dear", { model: "dear" });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({
        error: { type: "model_not_allowed", message: 'Unknown model "dear". Available: cheap, flaky.' },
      });
      expect(await unitsOf(only)).toEqual([]);
      await (await scene.call(only, "cheap")).text();
      await rowsOf(1, only);
      await expectToAgree(only);
    });

    it("over their budget are refused after the call that crossed it, which is charged once", async () => {
      const bob = scene.newRun("bob");
      const budgets = createPostgresBudgetStore(scene.database);
      await budgets.set("bob", undefined, { day: CHEAP + 1n, month: null, softPercent: null });
      await (await scene.call(bob, "within")).text();
      await (await scene.call(bob, "crosses")).text();
      const response = await scene.call(bob, "over");
      await budgets.set("bob", undefined, undefined);
      // Else the limit holds for some seconds, and refuses bob's calls of the next tests.
      scene.billing.budgets.changed("bob");
      expect(response.status).toBe(402);
      expect(await unitsOf(bob)).toHaveLength(2);
      await rowsOf(2, bob);
      await expectToAgree(bob);
    });

    it("outside any run never reach LiteLLM", async () => {
      const response = await scene.billing.fetch(`${scene.litellm.url}/v1/chat/completions`, {
        method: "POST",
        body: JSON.stringify({ model: "cheap", messages: [{ role: "user", content: "nobody pays" }] }),
      });
      expect(response.status).toBe(403);
      expect(scene.upstream.calls.some(({ text }) => text === "nobody pays")).toBe(false);
    });
  });

  describe("of a stranger's client", () => {
    /** As a graph that knows nothing of us makes it. */
    const strangersModel = (maxRetries: number) =>
      new StrangersModel({
        model: "cheap",
        apiKey: "sk-strangers-own",
        maxRetries,
        configuration: { baseURL: `${scene.litellm.url}/v1` },
      });

    beforeEach(() => {
      const installed = installFetch(scene.litellm.url);
      installed.use(scene.billing.fetch);
      return () => installed.remove();
    });

    it("are charged to the run, plain and streamed", async () => {
      await withMeteredRun(run, async () => {
        await strangersModel(0).invoke("a stranger");
        for await (const _ of await strangersModel(0).stream("a stranger streams")) void _;
      });
      expect(scene.told).toEqual([`priced ${CHEAP} response_header`, `priced ${CHEAP} last_event`]);
      await rowsOf(2);
      await expectToAgree(run);
    });

    it("that its library repeats are two units, of which one costs", async () => {
      await withMeteredRun(run, () => strangersModel(2).invoke(`status=500 times=1 ${randomUUID()}`));
      expect(scene.told).toEqual(["priced 0 refused", `priced ${CHEAP} response_header`]);
      await rowsOf(2);
      await expectToAgree(run);
    });

    it("that are aborted are one unit in doubt, until it is reconciled", async () => {
      const controller = new AbortController();
      await withMeteredRun(run, async () => {
        const model = strangersModel(0);
        let chunks = 0;
        try {
          for await (const _ of await model.stream("tokens=60 delay=50", { signal: controller.signal })) {
            void _;
            if (++chunks === 5) controller.abort();
          }
        } catch {
          // What an abort looks like is the library's affair.
        }
      });
      await expect.poll(() => scene.told).toEqual(["doubted aborted"]);
      await expectToBeReconciled(1);
    });

    it("that are refused are not repeated", async () => {
      const calling = strangersModel(5).invoke("outside any run");
      await expect(calling).rejects.toMatchObject({ status: 403, type: "forbidden" });
      expect(scene.told).toEqual(["refused forbidden"]);
    });
  });

  it("of two tenants at once never carry the other's key or labels", async () => {
    const runs = Array.from({ length: 6 }, (_, index) => scene.newRun(index % 2 === 0 ? "ann" : "bob"));
    await Promise.all(
      runs.flatMap((of, index) =>
        [0, 1, 2].map(async (turn) => {
          const options = { stream: (index + turn) % 2 === 0 };
          await (await scene.call(of, `tokens=${turn + 1} delay=${index}`, options)).text();
        }),
      ),
    );
    for (const of of runs) {
      await rowsOf(3, of);
      await expectToAgree(of);
    }
  });

  it("leave no key in the ledger", async () => {
    await (await scene.call(run, "keys")).text();
    const { pool, schema } = scene.database;
    for (const table of ["usage_units", "charge_receipts", "charge_corrections", "spend_facts", "budgets"]) {
      const { rows } = await pool.query<{ row: string }>(`select t::text as row from ${schema}.${table} t`);
      expect(rows.map(({ row }) => row).join("\n")).not.toMatch(/sk-(tenant|service|graphs)/);
    }
  });

  it("that die with LiteLLM are listed, and those that it never got cost nothing", async () => {
    const response = await scene.call(run, "tokens=100 delay=50", { stream: true });
    const reader = await readSome(response, 3);
    await scene.litellm.kill();
    await readOut(reader);
    await expect.poll(() => scene.told).toEqual(["doubted truncated"]);
    const unreached = scene.newRun("ann");
    await expect(scene.call(unreached, "down")).rejects.toThrow();
    expect(scene.told.at(-1)).toBe("priced 0 not_sent");
    await scene.litellm.start();
    await scene.reconcileNow();
    expect(await unitsOf(run)).toMatchObject([{ state: "unresolved", reason: "no_evidence", billed: null }]);
    const after = scene.newRun("ann");
    await (await scene.call(after, "up again")).text();
    await rowsOf(1, after);
    await expectToAgree(after);
  }, 300_000);

  it("leave no row of our keys that no unit claims", async () => {
    await scene.reconcileNow();
    expect(await scene.facts.unclaimed(10)).toEqual([]);
  });
});
