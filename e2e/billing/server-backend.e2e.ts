import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hashKey } from "@throughline/billing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ensureLitellm } from "../../scripts/ensure-litellm.mjs";
import { type LanggraphDev, startLanggraphDev } from "../../scripts/langgraph-dev.mjs";
import { type BilledService, startBilledService } from "./rig/billed-service.js";
import { spendOf, TOKENS, VIRTUAL_KEYS } from "./rig/litellm-rig.js";

const missing = await ensureLitellm();
if (missing !== undefined && process.env.CI === "true") throw new Error(missing);
if (missing !== undefined) console.warn(`Skipped: ${missing}`);

describe.skipIf(missing !== undefined)(
  "the service in front of a LangGraph server and a real LiteLLM",
  () => {
    let service: BilledService;
    let upstream: LanggraphDev;
    const folder = mkdtempSync(join(tmpdir(), "throughline-backend-"));
    beforeAll(async () => {
      service = await startBilledService({
        async settings({ litellm }) {
          const env = {
            LITELLM_BASE_URL: `${litellm.url}/v1`,
            LITELLM_VIRTUAL_KEYS: VIRTUAL_KEYS,
            LITELLM_API_KEY: "",
          };
          upstream = await startLanggraphDev({ port: 0, quiet: true, cwd: folder, env });
          return { LANGGRAPH_SERVER_URL: upstream.url };
        },
        graphs: undefined,
        // The server publishes no context schema.
        declared: [{ graphName: "poet", contextKeys: ["model"] }],
      });
    }, 300_000);
    afterAll(async () => {
      await upstream?.stop();
      await service?.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    it("streams through LANGGRAPH_SERVER_URL: text_delta* → usage_report → done, and is charged by LiteLLM's log", async () => {
      const requestId = "req-through-the-server";
      const traceId = "0123456789abcdef0123456789abcdef";
      const { status, events } = await service.run({
        account: "bob",
        graph: "poet",
        model: "dear",
        prompt: "tokens=3",
        requestId,
        traceId,
      });
      expect(status).toBe(200);
      expect(events.map(({ type }) => type).join(" ")).toMatch(
        /^(text_delta )+usage_report assistant_final done$/,
      );
      const report = events.find((event) => event.type === "usage_report");
      expect(report?.executorType).toBe("langgraph_server");
      // Its call is found in LiteLLM's log: before the run ends, or later.
      expect([
        [null, false],
        [0.0002, true],
      ]).toContainEqual([report?.costUsd, report?.complete]);
      const rowsOf = () => service.logged().filter(({ labels }) => labels.requestId === requestId);
      await expect.poll(() => rowsOf().length, { timeout: 20_000 }).toBe(1);
      const [row] = rowsOf();
      expect(row).toMatchObject({
        model_group: "dear",
        key_hash: hashKey(TOKENS.bob ?? ""),
        labels: { accountId: "bob", virtualKeyId: "vk-bob", executorType: "langgraph_server" },
      });
      expect(String(row?.labels.traceId)).toContain(traceId);
      const runId = String(row?.labels.runId);
      await expect.poll(() => service.ledger.receipts(runId), { timeout: 30_000 }).toHaveLength(1);
      const receipts = await service.ledger.receipts(runId);
      expect(receipts[0]).toMatchObject({
        account: "bob",
        amount: spendOf(rowsOf()),
        sourceReference: row?.call_id,
      });
      const usage = await service.request("/usage?by=run", { account: "bob" });
      expect(await usage.json()).toMatchObject({ rows: [{ key: runId, calls: 1, unpriced: 0 }] });
    });
  },
);
