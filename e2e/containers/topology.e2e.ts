import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SERVICES } from "../../scripts/containers/topology.mjs";
import { hasChromium, launchChromium } from "../browser/chromium.js";
import { ACCOUNT, callerOf, wordsOf } from "./rig/container-runs.js";
import { startTopology, type Topology } from "./rig/start-topology.js";
import { PATIENCE } from "./rig/until.js";

const BUILD_MS = 3_600_000;
const RUN_MS = 900_000;

describe("The compose topology", { timeout: RUN_MS }, () => {
  let topology: Topology;
  let caller: ReturnType<typeof callerOf>;
  beforeAll(async () => {
    topology = await startTopology();
    caller = callerOf(topology.env.THROUGHLINE_JWT_SECRET ?? "");
  }, BUILD_MS);
  afterAll(() => topology?.stop(), RUN_MS);

  const psql = async (statement: string) => {
    const postgres = await topology.container("postgres");
    const { POSTGRES_USER: user = "" } = topology.env;
    return postgres.exec("psql", "-U", user, "-d", "langgraph_dev", "-Atc", statement);
  };
  const spendLog = async () => {
    const litellm = await topology.container("litellm");
    const lines = (await litellm.exec("cat", "/var/lib/litellm/spend.jsonl")).split("\n");
    return lines.filter((line) => line !== "").map((line): Record<string, unknown> => JSON.parse(line));
  };

  it("is up by its names, and both replicas are alive and ready on one database", async () => {
    for (const service of SERVICES) expect(await (await topology.container(service)).isHealthy()).toBe(true);
    for (const { url } of [topology.first, topology.second]) {
      expect(await (await fetch(`${url}/health`)).json()).toMatchObject({ status: "ok" });
      expect(await (await fetch(`${url}/ready`)).json()).toEqual({ status: "ready" });
    }
    const web = await topology.container("web");
    const lookUp = (name: string) =>
      web.exec("node", "-p", `require("dns").lookup("${name}", (error, at) => console.log(at))`);
    for (const name of SERVICES) expect(await lookUp(name)).toMatch(/\d+\.\d+\.\d+\.\d+/);
  });

  describe("a run", () => {
    const asked = { stateKey: "first", text: "tokens=5", requestId: "request-1", traceId: "trace-1" };

    it("streams text, its usage and its end through LiteLLM's container", async () => {
      const { status, events } = await caller.run(topology.first.url, asked);
      expect(status).toBe(200);
      const types = events.map(({ data }) => data.type);
      expect(types.filter((type) => type !== "text_delta")).toEqual([
        "usage_report",
        "assistant_final",
        "done",
      ]);
      expect(types[0]).toBe("text_delta");
      const text = events.map(({ data }) => data.delta ?? "").join("");
      expect(text).toBe(wordsOf(5));
      expect(events.find(({ data }) => data.type === "usage_report")?.data).toMatchObject({
        outputTokens: 5,
      });
    });

    it("has its cost and its ids in LiteLLM's log", async () => {
      const labels = { accountId: ACCOUNT, requestId: "request-1", traceId: "trace-1" };
      await expect
        .poll(spendLog, PATIENCE)
        .toContainEqual(
          expect.objectContaining({ status: "success", labels: expect.objectContaining(labels) }),
        );
      const [row] = await spendLog();
      // 11 tokens in, 5 out, at the prices of litellm.yaml.
      expect(row?.spend).toBeCloseTo(11 * 0.000001 + 5 * 0.000002, 12);
    });

    it("has one charge receipt in PostgreSQL, at LiteLLM's price", async () => {
      const [row] = await spendLog();
      const amount = Math.round(Number(row?.spend) * 1e12);
      const receipts = await psql(
        `select source_system, account, amount_pico from throughline.charge_receipts where account = '${ACCOUNT}'`,
      );
      expect(receipts).toBe(`litellm|${ACCOUNT}|${amount}`);
    });

    it("is logged on standard output, one JSON object a line", async () => {
      const lines = (await topology.first.container.logs())
        .split("\n")
        .filter((line) => line.startsWith("{"));
      const messages = lines.map((line): Record<string, unknown> => JSON.parse(line)).map(({ msg }) => msg);
      expect(messages).toContain("run started");
      expect(messages).toContain("run ended");
    });
  });

  it.runIf(hasChromium())("shows its console after signing in with a token", async () => {
    const chromium = await launchChromium();
    try {
      const page = await chromium.context.newPage();
      await page.goto(topology.consoleUrl);
      await page.getByLabel("Access token").fill(caller.token);
      await page.getByRole("button", { name: "Continue" }).click();
      await page.getByRole("link", { name: "New thread with Chat" }).waitFor({ timeout: PATIENCE.timeout });
      expect(new URL(page.url()).pathname).toBe("/");
    } finally {
      await chromium.close();
    }
  });

  it("goes on with a conversation after each container in turn was killed and came back", async () => {
    const stateKey = "long talk";
    const said: string[] = [];
    const turn = async (text: string) => {
      const { status, events } = await caller.run(topology.first.url, { stateKey, text });
      expect({ status, last: events.at(-1)?.data.type }).toEqual({ status: 200, last: "done" });
      said.push(`user: ${text}`, `assistant: ${wordsOf(2)}`);
      expect(await caller.messages(topology.first.url, stateKey)).toEqual(said);
    };
    await turn("tokens=2 before");
    for (const service of SERVICES) {
      await (await topology.container(service)).crash();
      await expect.poll(async () => (await fetch(`${topology.first.url}/ready`)).status, PATIENCE).toBe(200);
      await turn(`tokens=2 after ${service}`);
    }
  });

  it("finishes on the other replica a run whose replica was killed in the middle", async () => {
    const { first, second } = topology;
    const stateKey = "killed";
    const before = await recoveries(second.url);
    await caller.begin(first.url, { stateKey, text: "tokens=60 delay=200" });
    await first.container.kill();
    await expect
      .poll(async () => (await caller.envelopes(second.url, stateKey)).at(-1), PATIENCE)
      .toMatchObject({
        type: "run_end",
        attempt: 1,
        payload: { status: "success" },
      });
    expect(await caller.messages(second.url, stateKey)).toEqual([
      "user: tokens=60 delay=200",
      `assistant: ${wordsOf(60)}`,
    ]);
    expect(await recoveries(second.url)).toBe(before + 1);
    await first.container.start();
  });

  describe("a replica that is asked to stop", () => {
    const GRACE_S = 25;

    it("hands its runs over within its grace time, and the other finishes them", async () => {
      const { first, second } = topology;
      const stateKey = "handed over";
      await caller.begin(first.url, { stateKey, text: "tokens=100 delay=200" });
      const { code, ms } = await first.container.stop(GRACE_S);
      expect(code).toBe(143);
      expect(ms).toBeLessThan(GRACE_S * 1_000);
      await expect
        .poll(async () => (await caller.envelopes(second.url, stateKey)).at(-1), PATIENCE)
        .toMatchObject({
          type: "run_end",
          payload: { status: "success" },
        });
      await first.container.start();
    });

    it("ends at once when it has not even started", async () => {
      const { container } = topology.second;
      await container.stop(GRACE_S);
      await topology.ask("start", "throughline-e2e-langgraph-server-2");
      const { code, ms } = await container.stop(GRACE_S);
      expect(code).toBe(143);
      expect(ms).toBeLessThan(GRACE_S * 1_000);
    });
  });
});

async function recoveries(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^throughline_recoveries_total\{[^}]*\} (\d+)/m.exec(text)?.[1] ?? 0);
}
