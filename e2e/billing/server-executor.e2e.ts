import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@langchain/langgraph-sdk";
import type { GraphRunRequest } from "@throughline/ai-core";
import { createAdoption } from "@throughline/billing";
import { createLangGraphDevProvider } from "@throughline/graph-executor";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ensureLitellm } from "../../scripts/ensure-litellm.mjs";
import { type LanggraphDev, startLanggraphDev } from "../../scripts/langgraph-dev.mjs";
import { orderOf, runOn } from "../executor/run-on.js";
import { startUpstreamServer, type UpstreamServer } from "../executor/upstream-server.js";
import { TOKENS, VIRTUAL_KEYS } from "./rig/litellm-rig.js";
import { hashKey, type MeteredScene, openMeteredScene } from "./rig/metered-scene.js";

const missing = await ensureLitellm();
if (missing !== undefined && process.env.CI === "true") throw new Error(missing);
if (missing !== undefined) console.warn(`Skipped: ${missing}`);

const STRANGERS_PROJECT = new URL("graphs/langgraph.json", import.meta.url);
const SOON = { timeout: 30_000, interval: 100 };

describe.skipIf(missing !== undefined)("model calls of graphs on a LangGraph server", () => {
  let scene: MeteredScene;
  let folder: string;
  /** With the graphs of this repository. */
  let own: LanggraphDev;
  /** With a project that imports our one line. */
  let strangers: UpstreamServer;
  /** The runs that a service would have registered. */
  const runs = new Map<string, GraphRunRequest>();

  beforeAll(async () => {
    scene = await openMeteredScene();
    folder = mkdtempSync(join(tmpdir(), "throughline-labelled-"));
    const env = {
      LITELLM_BASE_URL: `${scene.litellm.url}/v1`,
      LITELLM_VIRTUAL_KEYS: VIRTUAL_KEYS,
      LITELLM_API_KEY: "",
      OPENAI_API_KEY: "",
      OPENAI_BASE_URL: "",
    };
    own = await startLanggraphDev({ port: 0, quiet: true, cwd: folder, env });
    strangers = await startUpstreamServer({ project: STRANGERS_PROJECT, env });
  }, 300_000);
  afterAll(async () => {
    await Promise.all([own?.stop(), strangers?.stop()]);
    if (folder) rmSync(folder, { recursive: true, force: true });
    await scene?.close();
  });

  const serverOf = (graphName: string) => (graphName === "stranger" ? strangers : own);

  function order(
    account: string,
    graphName: string,
    prompt: string,
    changes: Partial<GraphRunRequest> = {},
  ): GraphRunRequest {
    const run = orderOf(
      graphName,
      {},
      {
        model: "cheap",
        caller: {
          billingAccountId: account,
          virtualKeyId: `vk-${account}`,
          traceId: randomUUID().replaceAll("-", ""),
        },
        start: { kind: "input", messages: [{ id: randomUUID(), role: "user", content: prompt }] },
        ...changes,
      },
    );
    runs.set(run.runId, run);
    return run;
  }

  async function drive(run: GraphRunRequest) {
    const graphName = run.graphId.replace("langgraph:", "");
    const { final } = await runOn(createLangGraphDevProvider({ url: serverOf(graphName).url }), run);
    return final;
  }

  /** As a service would: by its registry and its own keys. */
  function reconcileNow() {
    const adopt = createAdoption({
      keys: scene.keys,
      findRun: async ({ runId }) => {
        const run = runs.get(runId);
        if (!run) return undefined;
        const { caller, threadId, graphId } = run;
        const { billingAccountId: account, subject, virtualKeyId } = caller;
        return { runId, account, subject, virtualKeyId, threadId, graphId };
      },
    });
    return scene.reconcileNow({ adopt });
  }

  /** After a pass the run's receipts are what LiteLLM recorded, under the right key and labels, each once. */
  async function expectToAgree(run: GraphRunRequest, rowCount: number): Promise<void> {
    await expect.poll(() => scene.logged(run.runId).length, SOON).toBe(rowCount);
    await reconcileNow();
    await reconcileNow();
    const rows = scene.logged(run.runId);
    const { billingAccountId: account, virtualKeyId, traceId } = run.caller;
    const units = await scene.ledger.find(rows.map(({ call_id }) => call_id));
    for (const row of rows) {
      expect(row.key_hash).toBe(hashKey(TOKENS[account] ?? ""));
      expect(row.labels).toEqual({
        accountId: account,
        virtualKeyId,
        runId: run.runId,
        attempt: run.attempt,
        usageUnitId: row.call_id,
        threadId: run.threadId,
        requestId: run.ingressRequestId,
        traceId,
        executorType: "langgraph_server",
      });
      expect(units.find(({ unitId }) => unitId === row.call_id)).toMatchObject({
        state: "settled",
        evidence: "logger",
        account,
        runId: run.runId,
        graphId: run.graphId,
        executorType: "langgraph_server",
        seen: { servedModel: row.model_group },
      });
    }
    const spend = rows.reduce((sum, row) => sum + BigInt(Math.round(row.spend * 1e12)), 0n);
    expect(await scene.ledger.billOf(run.runId)).toEqual({
      calls: units.length,
      inputTokens: rows.reduce((sum, row) => sum + row.input_tokens, 0),
      outputTokens: rows.reduce((sum, row) => sum + row.output_tokens, 0),
      amount: spend,
      unpriced: 0,
    });
    const receipts = await scene.ledger.receipts(run.runId);
    expect(receipts.map(({ sourceReference }) => sourceReference).sort()).toEqual(
      [...new Set(rows.map(({ call_id }) => call_id))].sort(),
    );
    for (const { unitId } of units) expect(await scene.ledger.corrections(unitId)).toEqual([]);
  }

  it("are charged to the run of our chat graph", async () => {
    const run = order("ann", "chat", "tokens=7");
    expect((await drive(run)).status).toBe("success");
    await expectToAgree(run, 1);
    expect((await scene.ledger.billOf(run.runId)).amount).toBe(11_000_000n + 7n * 2_000_000n);
  });

  it("are charged to the run of a stranger's graph, plain and streamed", async () => {
    const run = order("bob", "stranger", "tokens=5");
    expect((await drive(run)).status).toBe("success");
    await expectToAgree(run, 2);
    expect((await scene.ledger.billOf(run.runId)).amount).toBe(2n * (11_000_000n + 5n * 2_000_000n));
  });

  it("are two units when a library repeats one, of which one costs", async () => {
    const run = order("ann", "stranger", `status=500 times=1 ${randomUUID()}`);
    expect((await drive(run)).status).toBe("success");
    await expectToAgree(run, 3);
    expect(await scene.ledger.billOf(run.runId)).toMatchObject({ calls: 3, amount: 2n * 17_000_000n });
  });

  it("that are stopped in mid-stream are charged as LiteLLM does", async () => {
    const stop = new AbortController();
    const prompt = `tokens=200 delay=50 ${randomUUID()}`;
    const run = order("ann", "chat", prompt, { signal: stop.signal });
    const driving = drive(run);
    await expect
      .poll(() => scene.upstream.calls.find(({ text }) => text === prompt)?.sent ?? 0, SOON)
      .toBeGreaterThan(3);
    stop.abort();
    expect((await driving).status).toBe("cancelled");
    await expectToAgree(run, 1);
    expect((await scene.ledger.billOf(run.runId)).amount).toBeGreaterThan(0n);
  });

  it("of two tenants at once never carry the other's key or labels, also with a model that they share", async () => {
    const started = Array.from({ length: 8 }, (_, index) =>
      order(
        index % 2 === 0 ? "ann" : "bob",
        index % 4 < 2 ? "stranger" : "chat",
        `tokens=${index + 1} delay=5`,
      ),
    );
    const finals = await Promise.all(started.map(drive));
    expect(finals.map(({ status }) => status)).toEqual(started.map(() => "success"));
    for (const run of started) await expectToAgree(run, run.graphId === "langgraph:chat" ? 1 : 2);
  });

  it("of a foreign run are refused where the server has no key for those, and never reach LiteLLM", async () => {
    const prompt = `foreign ${randomUUID()}`;
    const outsider = new Client({ apiUrl: strangers.url });
    const { thread_id } = await outsider.threads.create();
    const { run_id } = await outsider.runs.create(thread_id, "stranger", {
      input: { messages: [{ role: "user", content: prompt }] },
    });
    await outsider.runs.join(thread_id, run_id).catch(() => undefined);
    await expect.poll(async () => (await outsider.runs.get(thread_id, run_id)).status, SOON).toBe("error");
    expect(scene.upstream.calls.some(({ text }) => text === prompt)).toBe(false);
  });

  it("leave no key with the server", async () => {
    const run = order("ann", "stranger", "keys");
    const { upstreamRunId = "" } = await drive(run);
    const outsider = new Client({ apiUrl: strangers.url });
    const kept = [
      await outsider.runs.get(run.threadId, upstreamRunId),
      await outsider.threads.get(run.threadId),
      await outsider.threads.getHistory(run.threadId),
    ];
    expect(JSON.stringify(kept)).toContain("vk-ann");
    expect(JSON.stringify(kept)).not.toMatch(/sk-(tenant|service)/);
    await expectToAgree(run, 2);
  });

  it("that name another account's run are charged to no one, and listed", async () => {
    const victim = order("ann", "stranger", "tokens=2");
    await drive(victim);
    await expectToAgree(victim, 2);
    expect(await scene.facts.unclaimed(10)).toEqual([]);
    const before = await scene.ledger.billOf(victim.runId);
    const forger = new Client({ apiUrl: strangers.url });
    const { thread_id } = await forger.threads.create();
    const run = await forger.runs.create(thread_id, "stranger", {
      input: { messages: [{ role: "user", content: "forged" }] },
      metadata: {
        throughline_identity: {
          runId: victim.runId,
          attempt: 0,
          billingAccountId: "bob",
          virtualKeyId: "vk-bob",
          ingressRequestId: "request-1",
          traceId: "trace-1",
          executorType: "langgraph_server",
        },
      },
    });
    await forger.runs.join(thread_id, run.run_id);
    await expect.poll(() => scene.logged(victim.runId).length, SOON).toBe(4);
    expect(await reconcileNow()).toMatchObject({ adopted: 0, charged: 0, unclaimed: 2 });
    expect(await scene.ledger.billOf(victim.runId)).toEqual(before);
    const listed = await scene.facts.unclaimed(10);
    expect(listed).toHaveLength(2);
    for (const fact of listed) {
      expect(fact).toMatchObject({
        keyHash: hashKey(TOKENS.bob ?? ""),
        labels: { accountId: "bob", runId: victim.runId },
      });
    }
  });
});
