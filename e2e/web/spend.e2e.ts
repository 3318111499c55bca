import { createHmac, randomUUID } from "node:crypto";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { ensureLitellm } from "../../scripts/ensure-litellm.mjs";
import { type LitellmRig, SERVICE_KEY, startLitellmRig, VIRTUAL_KEYS } from "../billing/rig/litellm-rig.js";
import { hasChromium } from "../browser/chromium.js";
import { tabTo } from "./rig/keyboard.js";
import { type Stage, startStage } from "./rig/start-stage.js";
import { PATIENCE, threadScreen } from "./rig/thread-screen.js";

const missing = await ensureLitellm();
if (missing !== undefined && process.env.CI === "true") throw new Error(missing);
if (missing !== undefined) console.warn(`Skipped: ${missing}`);

const SECRET = "a secret of thirty-two characters";

/** Of ann's account, whose key LiteLLM knows. */
function tokenOf(subject: string, role: string): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const exp = Math.floor(Date.now() / 1_000) + 3_600;
  const claims = {
    billing_account_id: "ann",
    virtual_key_id: "vk-ann",
    sub: subject,
    throughline_role: role,
    exp,
  };
  const signed = `${part({ alg: "HS256", typ: "JWT" })}.${part(claims)}`;
  return `${signed}.${createHmac("sha256", SECRET).update(signed).digest("base64url")}`;
}

describe.runIf(hasChromium() && missing === undefined)(
  "With models behind LiteLLM",
  { timeout: 180_000 },
  () => {
    let litellm: LitellmRig;
    let stage: Stage;

    beforeAll(async () => {
      litellm = await startLitellmRig();
      stage = await startStage({
        signIn: "token",
        env: {
          THROUGHLINE_JWT_SECRET: SECRET,
          LITELLM_BASE_URL: `${litellm.litellm.url}/v1`,
          LITELLM_API_KEY: SERVICE_KEY,
          LITELLM_VIRTUAL_KEYS: VIRTUAL_KEYS,
          THROUGHLINE_SPEND_LOG: litellm.litellm.spendLog,
          THROUGHLINE_RECONCILE_SECONDS: "1",
          THROUGHLINE_DEFAULT_MODEL: "cheap",
        },
      });
    }, 300_000);
    afterEach((test) => stage?.clear(test));
    afterAll(async () => {
      await stage?.stop();
      await litellm?.stop();
    });

    const modelButton = (page: Page) => page.getByRole("button", { name: /^Model:/ });

    async function pick(page: Page, model: string): Promise<void> {
      await modelButton(page).click();
      await page.getByRole("menuitemradio", { name: new RegExp(`^${model}`) }).click();
      await expect.poll(() => modelButton(page).textContent(), PATIENCE).toContain(model);
    }

    it("a thread's model is picked, remembered, and its runs and their cost are found on the spend page", async () => {
      const ann = await stage.visitor({ token: tokenOf("ann", "admin") });
      const page = await ann.open("/agents/poet");
      const screen = threadScreen(page);
      expect(await page.getByText("Offline scripted model").count()).toBe(0);
      await pick(page, "dear");
      await screen.say("tokens=5");
      await screen.untilDone();
      await page.waitForURL("**/agents/poet/*");
      const path = new URL(page.url()).pathname;

      const again = await ann.open(path);
      await expect.poll(() => modelButton(again).textContent(), PATIENCE).toContain("dear");
      await pick(again, "cheap");
      await again.reload();
      await expect.poll(() => modelButton(again).textContent(), PATIENCE).toContain("cheap");
      await again.getByRole("button", { name: "Open the side panel" }).click();
      await again.getByRole("tab", { name: "Runs" }).click();
      const run = again.getByRole("list", { name: "Runs, newest first" }).getByRole("listitem").first();
      await expect.poll(() => run.textContent(), PATIENCE).toMatch(/\$0\.\d+.*dear/);

      const put = await fetch(`${stage.service.url}/budgets`, {
        method: "PUT",
        headers: { authorization: `Bearer ${tokenOf("ann", "admin")}`, "content-type": "application/json" },
        body: JSON.stringify({ day: "0.0005", month: "1", softPercent: 80 }),
      });
      expect(put.ok).toBe(true);
      const spend = await ann.open("/usage");
      await spend.getByRole("heading", { name: "Spend", level: 1 }).waitFor();
      await spend.getByRole("img", { name: /^Cost by day/ }).waitFor();
      await spend.getByText("Budget: $0.00050 a day").waitFor();
      await spend.getByText("Change").waitFor();
      await spend.getByRole("tab", { name: "Model" }).click();
      await tabTo(spend, "button", /"dear"/);
      await spend.keyboard.press("Enter");
      const runs = spend.getByRole("region", { name: /^Runs of dear/ });
      await runs.getByRole("link", { name: "Poet, open thread" }).waitFor();
      const [sheet] = await Promise.all([
        spend.waitForEvent("download"),
        runs.getByRole("link", { name: "CSV of these runs" }).click(),
      ]);
      expect(sheet.suggestedFilename()).toBe("usage-by-run.csv");
      await runs.getByRole("link", { name: "Poet, open thread" }).click();
      await spend.waitForURL(`**${path}`);
      expect(ann.complaints()).toEqual([]);
    });

    it("a viewer is told that spend is not for their role", async () => {
      const vic = await stage.visitor({ token: tokenOf("vic", "viewer") });
      const page = await vic.open("/usage");
      await page.getByRole("heading", { name: "Spend", level: 1 }).waitFor();
      await page.getByText("The role viewer may not see what runs cost.").waitFor();
      expect(await page.getByRole("tab").count()).toBe(0);
    });
  },
);

describe.runIf(hasChromium())("Without a model", { timeout: 120_000 }, () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await startStage();
  }, 120_000);
  afterEach((test) => stage?.clear(test));
  afterAll(() => stage?.stop());

  it("every page says that a script answers and how to connect a model, and suggestions are sent by a press", async () => {
    const visitor = await stage.visitor();
    const page = await visitor.open("/agents/poet");
    const screen = threadScreen(page);
    // In the header, and once more in the empty thread.
    const badges = page.getByRole("button", { name: "Offline scripted model" });
    await expect.poll(() => badges.count(), PATIENCE).toBe(2);
    await badges.first().click();
    await page
      .getByRole("dialog", { name: "Offline scripted model" })
      .getByText("LITELLM_BASE_URL")
      .waitFor();
    await page.keyboard.press("Escape");
    expect(await page.getByRole("button", { name: /^Model:/ }).count()).toBe(0);
    const suggestions = page.getByRole("list", { name: "Suggested questions" });
    await suggestions.getByRole("button", { name: "Write a poem about the sea" }).click();
    await screen.untilShown("Write a poem about the sea");
    await screen.untilDone();
    await page.goto(new URL("/usage", stage.url).href);
    await page.getByRole("region", { name: "Offline scripted model" }).getByText("LITELLM_API_KEY").waitFor();
    expect(visitor.complaints()).toEqual([]);
  });

  it("nothing on a phone moves when the sign that a script answers comes", async () => {
    const visitor = await stage.visitor({ viewport: { width: 360, height: 740 } });
    const first = threadScreen(await visitor.open("/agents/poet"));
    await first.say("Write a poem about the sea");
    await first.untilDone();
    const page = await visitor.context.newPage();
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route("**/api/throughline/agents", (route) => held.then(() => route.continue()));
    await page.goto(first.page.url());
    const screen = threadScreen(page);
    await screen.untilShown("Write a poem about the sea");
    const badge = page.getByRole("button", { name: "Offline scripted model" });
    expect(await badge.count()).toBe(0);
    const places = async () => [
      await page.locator("header").first().boundingBox(),
      await screen.conversation.boundingBox(),
    ];
    const before = await places();
    release();
    await badge.waitFor();
    expect(await places()).toEqual(before);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  });

  it("a Sentinel that is not hired says so in its thread and on its cron, and is hired from there", async () => {
    const visitor = await stage.visitor();
    const thread = `watch-${randomUUID()}`;
    const made = await fetch(`${stage.service.url}/crons`, {
      method: "POST",
      headers: { "x-throughline-account": visitor.account, "content-type": "application/json" },
      body: JSON.stringify({
        agent: "langgraph:sentinel",
        threadName: thread,
        schedule: "*/2 * * * * *",
        input: { command: { name: "cycle" } },
      }),
    });
    expect(made.status).toBeLessThan(300);
    const { id } = await made.json();
    const page = await visitor.open(`/crons/${id}`);
    await page.getByText("Not hired: Sentinel does nothing in this thread until it is hired.").waitFor();
    await page.getByRole("link", { name: "Hire Sentinel" }).click();
    await page.waitForURL(`**/agents/sentinel/${thread}`);
    await page.getByText("Sentinel is not hired, so its last cycle did nothing.").waitFor();
    await page.getByRole("button", { name: "Hire Sentinel" }).click();
    await page.getByText("Sentinel is not hired").waitFor({ state: "hidden" });
    expect(visitor.complaints()).toEqual([]);
  });
});
