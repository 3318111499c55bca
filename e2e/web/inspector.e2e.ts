import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { hasChromium } from "../browser/chromium.js";
import { lengthenLog } from "./rig/lengthen-log.js";
import { type Stage, startStage } from "./rig/start-stage.js";
import { PATIENCE, threadScreen } from "./rig/thread-screen.js";

const ENTRIES = 100_000;
const MOST_ROWS = 80;

let stage: Stage;

describe.runIf(hasChromium())("The inspector", () => {
  beforeAll(async () => {
    stage = await startStage();
  });
  afterEach((test) => stage?.clear(test));
  afterAll(() => stage?.stop());

  it("shows a run live as envelopes and as AG-UI, holds still when it is paused, and finds what is searched for", async () => {
    const visitor = await stage.visitor();
    const page = await visitor.open("/agents/poet");
    const screen = threadScreen(page);
    await screen.say("Write about gauges");
    await screen.untilDone();
    await page.getByRole("button", { name: "Open the inspector" }).click();
    const envelopes = page.getByRole("listbox", { name: "Envelopes" });
    const frames = page.getByRole("listbox", { name: "AG-UI" });
    await envelopes.getByText("run_end").first().waitFor();
    await frames.getByText("RUN_FINISHED").first().waitFor();
    await page.getByRole("button", { name: "Pause", exact: true }).click();
    const held = await envelopes.textContent();
    await screen.say("Write about dials");
    await screen.untilShown(/dials.*dials/);
    await screen.untilDone();
    expect(await envelopes.textContent()).toBe(held);
    await page.getByRole("button", { name: "Go on", exact: true }).click();
    await page.getByLabel("Search the log").fill("dials");
    await envelopes.getByText("run_start").waitFor();
    await expect.poll(() => envelopes.getByText("gauges").count(), PATIENCE).toBe(0);
  });

  it(`holds at most ${MOST_ROWS} rows of a log of ${ENTRIES} entries, at its end, its beginning and in between`, async () => {
    const visitor = await stage.visitor({ viewport: { width: 1600, height: 2_000 } });
    const page = await visitor.open("/agents/poet");
    const screen = threadScreen(page);
    await screen.say("Write about ledgers");
    await screen.untilDone();
    const threadId = new URL(page.url()).pathname.split("/").at(-1) ?? "";
    await lengthenLog(stage.databaseUrl, {
      account: visitor.account,
      agent: "poet",
      threadId,
      entries: ENTRIES,
    });

    await page.getByRole("button", { name: "Open the inspector" }).click();
    const envelopes = page.getByRole("listbox", { name: "Envelopes" });
    const rows = page.getByRole("listbox").getByRole("option");
    await page.getByText("100,000", { exact: true }).waitFor();
    await envelopes.getByText(`${ENTRIES}`, { exact: true }).waitFor();
    expect(await rows.count()).toBeLessThanOrEqual(MOST_ROWS);
    expect(await rows.count()).toBeGreaterThan(5);
    await envelopes.focus();
    await page.keyboard.press("Home");
    await envelopes.getByText("run_start").waitFor();
    expect(await rows.count()).toBeLessThanOrEqual(MOST_ROWS);
    for (const share of [0.25, 0.5, 0.75]) {
      await envelopes.evaluate((list, at) => {
        list.scrollTop = at * list.scrollHeight;
      }, share);
      const near = Math.round(share * ENTRIES) + 10;
      await envelopes.getByText(`${near}`, { exact: true }).waitFor();
      expect(await rows.count()).toBeLessThanOrEqual(MOST_ROWS);
    }
    await page.getByLabel("Search the log").fill('"line":77777');
    await page.getByText("1 of 100,000", { exact: true }).waitFor();
  });
});
