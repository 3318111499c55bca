import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { hasChromium } from "../browser/chromium.js";
import { type Stage, startStage } from "./rig/start-stage.js";
import { PATIENCE, threadScreen } from "./rig/thread-screen.js";

let stage: Stage;

describe.runIf(hasChromium())("An agent at work is seen", () => {
  beforeAll(async () => {
    stage = await startStage();
  });
  afterEach((test) => stage?.clear(test));
  afterAll(() => stage?.stop());

  it("the researcher's subagents and their tools as calls within calls, its todos, and its files to read", async () => {
    const visitor = await stage.visitor();
    const page = await visitor.open("/agents/researcher");
    const screen = threadScreen(page);
    await page.getByRole("button", { name: "Open the side panel" }).click();
    await screen.say("How do agents keep their place after a crash?");
    const panel = page.getByRole("complementary", { name: "About this thread" });
    await panel.getByText("Write the report from what they filed").waitFor();
    await screen.untilShown("The report is in /research/1/report.md");
    await screen.untilDone();
    await panel.getByText("2 of 2 done").waitFor();

    for (const name of [/^Subagent scout/, /^Step tools/, /^Tool search_notes/]) {
      await screen.conversation.getByRole("button", { name }).first().click();
    }
    await screen.conversation.getByText("Input").first().waitFor();
    await screen.conversation.getByText("Result").first().waitFor();

    await panel.getByRole("button", { name: /report\.md/ }).click();
    const file = page.getByRole("dialog", { name: /report\.md/ });
    await file.getByRole("heading", { name: "What the notes say" }).waitFor();
    await page.keyboard.press("Escape");
    await file.waitFor({ state: "hidden" });
    expect(visitor.complaints()).toEqual([]);
  });

  it("the sentinel's cycle, scheduled every 10 s, runs live on a page that nobody touches", async () => {
    const visitor = await stage.visitor();
    const page = await visitor.open("/crons");
    await page.getByRole("link", { name: "New cron" }).first().click();
    await page.getByLabel("Runs", { exact: true }).selectOption("Every …");
    await page.getByLabel("How many").fill("10");
    await page.getByLabel("Agent", { exact: true }).selectOption("Sentinel");
    await page.getByLabel("Command", { exact: true }).selectOption("cycle");
    await page.getByLabel("Arguments").fill('{ "durationMs": 3000 }');
    await page.getByLabel("Its name").fill("night watch");
    await expect
      .poll(
        () => page.getByRole("region", { name: "The next five times" }).getByRole("listitem").count(),
        PATIENCE,
      )
      .toBe(5);
    await page.getByRole("button", { name: "Create cron" }).click();
    await page.getByRole("heading", { name: "Every 10 seconds" }).waitFor();
    await page.getByRole("link", { name: "night watch" }).click();
    const screen = threadScreen(page);
    await page.getByRole("button", { name: "Hire" }).click();

    // From here on nothing is pressed.
    await screen.untilShown(/Schedule.*Looking at error rate/);
    await screen.untilShown(/Cycle 1: service health at \d+, error rate at \d+/);
    await screen.untilShown(/Cycle 2: /);
    const lines = await screen.lines();
    expect(lines.filter((line) => line.startsWith("Cycle 1:"))).toHaveLength(1);

    await page.goto("/crons");
    await page.getByRole("button", { name: "Pause: Every 10 seconds" }).click();
    await page.getByRole("button", { name: "Resume: Every 10 seconds" }).waitFor();
    await page.getByRole("link", { name: "Every 10 seconds" }).click();
    const ticks = page.getByRole("list", { name: "Ticks, newest first" }).getByRole("listitem");
    await ticks.first().waitFor();
    const before = await ticks.count();
    expect(before).toBeGreaterThanOrEqual(2);
    await page.getByRole("button", { name: "Run now" }).click();
    await expect.poll(() => ticks.count(), PATIENCE).toBe(before + 1);
    await ticks.first().getByRole("link").click();
    await screen.untilShown(/Cycle 3: /);
    expect(visitor.complaints()).toEqual([]);
  });

  it("the sentinel's settings are pending until its own state says that it took them over", async () => {
    const visitor = await stage.visitor();
    const page = await visitor.open("/agents/sentinel");
    const screen = threadScreen(page);
    await page.getByRole("button", { name: "Hire" }).click();
    await screen.untilDone();
    await page.getByRole("button", { name: "Settings" }).click();
    const dialog = page.getByRole("dialog", { name: "Settings of Sentinel" });
    await dialog.getByLabel(/watch/i).fill("tide\nwind");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("Saved: the agent works by these settings.").waitFor();
    await dialog.getByRole("button", { name: "Close" }).last().click();
    await page.getByRole("button", { name: "Fire", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Fire Sentinel" }).click();
    await screen.conversation.getByRole("button", { name: /^fire/ }).waitFor();
    await screen.untilDone();
    await screen.say("What are you watching?");
    await screen.untilShown(/I was let go after 0 cycles/);
  });

  it("a message is edited into a thread of its own, and a past run is seen again by its slider", async () => {
    const visitor = await stage.visitor();
    const page = await visitor.open("/agents/poet");
    const screen = threadScreen(page);
    await screen.say("Write about copper");
    await screen.untilDone();
    const before = await screen.lines();
    const path = new URL(page.url()).pathname;
    await page.getByRole("button", { name: "Open the side panel" }).click();
    await page.getByRole("tab", { name: "Runs" }).click();
    await page.getByRole("list", { name: /^Runs/ }).getByRole("button").first().click();
    const again = page.getByRole("region", { name: "Replay of a run" });
    await again.getByText("copper").first().waitFor();
    await again.getByRole("slider").press("Home");
    await expect.poll(() => again.getByText(/copper/).count(), PATIENCE).toBe(0);
    await again.getByRole("slider").press("End");
    await again.getByText("copper").first().waitFor();

    await screen.conversation.getByText("Write about copper").hover();
    await page.getByRole("button", { name: "Edit and continue in a new thread" }).click();
    await page.getByLabel("Your message").fill("Write about zinc");
    await page.getByRole("button", { name: "Send in a new thread" }).click();
    await page.waitForURL((url) => url.pathname !== path);
    await screen.untilShown(/Write about zinc.*zinc/);
    await screen.untilDone();
    expect((await screen.lines()).join("\n")).not.toContain("copper");
    await page.goto(path);
    await screen.untilShown("copper");
    await expect.poll(() => screen.lines(), PATIENCE).toEqual(before);
  });
});
