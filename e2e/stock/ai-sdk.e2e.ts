import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import {
  createScriptedProvider,
  type ScriptedProvider,
} from "../../packages/langgraph-server/src/testing/scripted-provider.js";
import { startTestServer, type TestServer } from "../../packages/langgraph-server/src/testing/test-server.js";
import { type Chromium, hasChromium, launchChromium } from "../browser/chromium.js";
import { startTcpProxy } from "../executor/tcp-proxy.js";
import { freePort } from "../server/rig/free-port.js";
import { type InstalledExample, installExample } from "./rig/install-example.js";

describe.runIf(hasChromium())("useChat in a browser, on the example's page", () => {
  let example: InstalledExample;
  let bundler: ChildProcess;
  let provider: ScriptedProvider;
  let catalog: TestServer;
  let scripted: TestServer;
  let chromium: Chromium;
  let address: string;
  let page: Page;

  beforeAll(async () => {
    example = installExample("ai-sdk-chat");
    const port = await freePort();
    address = `http://127.0.0.1:${port}`;
    const [program = "", ...args] = (example.scripts.start ?? "").replace("5173", String(port)).split(" ");
    bundler = spawn(join(example.folder, "node_modules/.bin", program), args, { cwd: example.folder });
    provider = createScriptedProvider();
    const corsOrigins = [address];
    [catalog, scripted, chromium] = await Promise.all([
      startTestServer({ corsOrigins }),
      startTestServer({ corsOrigins, graphs: provider }),
      launchChromium(),
    ]);
    await vi.waitFor(() => fetch(address), { timeout: 60_000, interval: 200 });
  }, 600_000);
  afterEach(() => page?.close());
  afterAll(async () => {
    await chromium?.close();
    await Promise.all([catalog?.close(), scripted?.close()]);
    bundler?.kill();
    example?.remove();
  });

  async function open(server: Pick<TestServer, "url">, agent: string): Promise<void> {
    page = await chromium.context.newPage();
    const query = new URLSearchParams({ service: server.url, agent, chat: randomUUID() });
    await page.goto(`${address}/?${query}`);
  }
  async function say(text: string): Promise<void> {
    await page.getByLabel("Message").fill(text);
    await page.getByRole("button", { name: "Send" }).click();
  }
  const articles = () => page.locator("article").allInnerTexts();
  const status = () => page.locator("main").getAttribute("data-status");
  const shows = (texts: unknown) => expect.poll(articles, { timeout: 20_000 }).toEqual(texts);
  const isReady = () => expect.poll(status, { timeout: 20_000 }).toBe("ready");

  it("chats: a tool's call and result, and the answer, which a reload shows again", async () => {
    await open(catalog, "chat");
    await say("what is 6 * 7?");
    await shows(["what is 6 * 7?", expect.stringMatching(/calculator[\s\S]*→[\s\S]*42/)]);
    await isReady();
    const before = await articles();
    await page.reload();
    await shows(before);
  });

  it("goes on after a reload in the middle of an answer, with nothing lost or doubled", async () => {
    await open(scripted, "scripted");
    await say("go");
    const run = await provider.nextRun();
    run.say("Hel");
    await shows(["go", "Hel"]);
    await page.reload();
    await shows(["go", "Hel"]);
    await expect.poll(status).toBe("streaming");
    run.say("lo,");
    await shows(["go", "Hello,"]);
    await page.reload();
    run.say(" you");
    run.end();
    await shows(["go", "Hello, you"]);
    await isReady();
  });

  it("goes on when its connection broke in the middle of an answer, with nothing lost or doubled", async () => {
    let isBroken = true;
    const proxy = await startTcpProxy(scripted.url, () => ({
      onAnswer: (bytes) => (isBroken && bytes.includes("CUT") ? { cutAfter: 3 } : "pass"),
    }));
    try {
      await open({ url: proxy.url }, "scripted");
      await say("go");
      const run = await provider.nextRun();
      run.say("Hel");
      await shows(["go", "Hel"]);
      run.say("CUT");
      await expect.poll(status, { timeout: 20_000 }).toBe("error");
      isBroken = false;
      run.say("lo");
      run.end();
      // As when the person looks at the page again.
      await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
      await shows(["go", "HelCUTlo"]);
      await isReady();
    } finally {
      await proxy.stop();
    }
  });

  it("stops the run, keeps what was said, and can be asked again", async () => {
    await open(scripted, "scripted");
    await say("go");
    const run = await provider.nextRun();
    run.say("Once upon");
    await shows(["go", "Once upon"]);
    await page.getByRole("button", { name: "Stop" }).click();
    await isReady();
    expect(run.request.signal.aborted).toBe(true);
    await shows(["go", "Once upon"]);
    await say("again");
    const second = await provider.nextRun();
    second.say("Twice");
    second.end();
    await shows(["go", "Once upon", "again", "Twice"]);
    await isReady();
  });

  it("regenerates an answer: the run begins again before it, and a reload shows the new one alone", async () => {
    await open(catalog, "chat");
    await say("what is 6 * 7?");
    await shows(["what is 6 * 7?", expect.stringContaining("42")]);
    await isReady();
    const before = await articles();
    const runs = async () => {
      const name = new URL(page.url()).searchParams.get("chat");
      const answer = await fetch(`${catalog.url}/agents/chat/threads/${name}/runs`);
      return z.object({ runs: z.array(z.unknown()) }).parse(await answer.json()).runs.length;
    };
    expect(await runs()).toBe(1);
    await page.getByRole("button", { name: "Regenerate" }).click();
    await expect.poll(runs, { timeout: 20_000 }).toBe(2);
    await isReady();
    await shows(before);
    await page.reload();
    await shows(before);
  });

  it("asks questions, takes their answers, and a reload shows what is still open", async () => {
    await open(catalog, "travel");
    await say("from Amsterdam to San Francisco");
    const asked = page.locator(".question button:enabled");
    await expect.poll(() => asked.count(), { timeout: 20_000 }).toBeGreaterThan(1);
    const flights = await asked.allInnerTexts();
    await asked.first().click();
    await expect
      .poll(async () => [await asked.count(), await asked.allInnerTexts()], { timeout: 20_000 })
      .not.toEqual([flights.length, flights]);
    await isReady();
    const hotels = await asked.allInnerTexts();
    expect(hotels.length).toBeGreaterThan(1);
    await page.reload();
    await expect.poll(() => asked.allInnerTexts(), { timeout: 20_000 }).toEqual(hotels);
    expect((await articles()).length).toBe(2);
    await asked.first().click();
    await expect.poll(() => asked.count(), { timeout: 20_000 }).toBe(0);
    await isReady();
    if (process.env.E2E_SHOTS)
      await page.screenshot({ path: join(process.env.E2E_SHOTS, "ai-sdk-chat.png") });
  });
});
