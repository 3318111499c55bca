/// <reference lib="dom" />
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { hasChromium } from "../browser/chromium.js";
import { runElsewhere } from "./rig/run-elsewhere.js";
import { type Stage, startStage } from "./rig/start-stage.js";
import { PATIENCE } from "./rig/thread-screen.js";

let stage: Stage;

describe.runIf(hasChromium())("The console's frame", { timeout: 120_000 }, () => {
  beforeAll(async () => {
    stage = await startStage();
  }, 120_000);
  afterEach((test) => stage?.clear(test));
  afterAll(() => stage?.stop());

  it("lets a person find, rename, archive, restore and delete threads, with keys alone", async () => {
    const visitor = await stage.visitor();
    const { account } = visitor;
    await runElsewhere(stage, { account, agent: "poet", threadId: "rivers", content: "a line about rivers" });
    await runElsewhere(stage, { account, agent: "poet", threadId: "salt", content: "a line about salt" });
    const page = await visitor.open("/agents/poet/rivers");
    const sidebar = page.getByRole("navigation", { name: "Agents" });
    const thread = (name: RegExp) => sidebar.getByRole("link", { name });
    const act = async (of: string, action: string) => {
      await sidebar.getByRole("button", { name: `Actions for ${of}` }).press("Enter");
      await page.getByRole("menuitem", { name: action }).press("Enter");
    };

    await act("a line about rivers", "Rename");
    const title = page.getByRole("textbox", { name: "Title" });
    await title.fill("The great rivers");
    await title.press("Enter");
    await thread(/The great rivers/).waitFor();

    await sidebar.getByRole("searchbox", { name: "Search threads" }).fill("RIVERS");
    await thread(/a line about salt/).waitFor({ state: "detached" });
    await thread(/The great rivers/).waitFor();
    await sidebar.getByRole("searchbox", { name: "Search threads" }).fill("");

    await act("a line about salt", "Archive");
    await thread(/a line about salt/).waitFor({ state: "detached" });
    await sidebar.getByRole("button", { name: "Archived" }).press("Enter");
    await act("a line about salt", "Restore");
    await sidebar.getByText("Nothing is archived.").waitFor();
    await sidebar.getByRole("button", { name: "Back to open threads" }).press("Enter");
    await thread(/a line about salt/).waitFor();

    await act("The great rivers", "Delete");
    expect(await page.getByRole("button", { name: "Cancel" }).evaluate((one) => one.matches(":focus"))).toBe(
      true,
    );
    await page.getByRole("button", { name: "Delete thread" }).press("Enter");
    await thread(/The great rivers/).waitFor({ state: "detached" });
    await expect.poll(() => new URL(page.url()).pathname, PATIENCE).toBe("/agents/poet");
    expect(visitor.complaints()).toEqual([]);
  });

  it("marks what happened elsewhere until it is looked at, and calls a person where an agent waits for them", async () => {
    const visitor = await stage.visitor();
    const page = await visitor.open("/");
    const sidebar = page.getByRole("navigation", { name: "Agents" });
    await sidebar.getByRole("link", { name: /Poet/ }).waitFor();
    await expect.poll(() => sidebar.getByRole("link", { name: /something new/ }).count(), PATIENCE).toBe(0);
    const { account } = visitor;
    await runElsewhere(stage, { account, agent: "poet", threadId: "news", content: "a line about the news" });
    await runElsewhere(stage, { account, agent: "travel", threadId: "lisbon", content: "Plan my trip" });

    await page.getByText("Travel planner waits for your answer").waitFor();
    await sidebar.getByRole("link", { name: /Waiting for you.*Travel planner/ }).waitFor();
    await page.getByRole("button", { name: "Answer", exact: true }).click();
    await expect.poll(() => new URL(page.url()).pathname, PATIENCE).toBe("/agents/travel/lisbon");
    await page.getByText("Travel planner waits for your answer").waitFor({ state: "detached" });

    await sidebar.getByRole("link", { name: /Poet.*something new/ }).click();
    await expect.poll(() => new URL(page.url()).pathname, PATIENCE).toBe("/agents/poet/news");
    await sidebar.getByRole("link", { name: /something new/ }).waitFor({ state: "detached" });
    expect(visitor.complaints()).toEqual([]);
  });

  it("goes anywhere by a few letters, lists its shortcuts, and keeps the colours that were chosen", async () => {
    const visitor = await stage.visitor();
    const page = await visitor.open("/");
    await page.getByRole("link", { name: "New thread with Poet" }).waitFor();
    await page.keyboard.press("ControlOrMeta+k");
    await page.getByRole("combobox").fill("ponder");
    await page.getByRole("option", { name: /^Ponderer/, selected: true }).waitFor();
    await page.keyboard.press("Enter");
    await expect.poll(() => new URL(page.url()).pathname, PATIENCE).toBe("/agents/ponderer");

    await page.locator("main").focus();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Shortcuts" }).getByText("New thread", { exact: true }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Shortcuts" }).waitFor({ state: "hidden" });

    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    expect(await theme()).toBeUndefined();
    await page.keyboard.press("t");
    await expect.poll(theme, PATIENCE).toBe("dark");
    await page.reload();
    expect(await theme()).toBe("dark");
    expect(visitor.complaints()).toEqual([]);
  });

  it("has its list in a drawer on a phone, which takes the focus and gives it back", async () => {
    const visitor = await stage.visitor({ viewport: { width: 360, height: 740 } });
    const page = await visitor.open("/");
    const opener = page.getByRole("button", { name: "Agents and threads" });
    const link = page.getByRole("navigation", { name: "Agents" }).getByRole("link", { name: /Poet/ });
    await page.getByRole("link", { name: "New thread with Poet" }).waitFor();
    expect(await link.isVisible()).toBe(false);
    await opener.press("Enter");
    await link.waitFor();
    await page.keyboard.press("Escape");
    await link.waitFor({ state: "hidden" });
    expect(await opener.evaluate((one) => one.matches(":focus"))).toBe(true);
    await opener.press("Enter");
    await link.click();
    await expect.poll(() => new URL(page.url()).pathname, PATIENCE).toBe("/agents/poet");
    await link.waitFor({ state: "hidden" });
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBe(360);
  });

  it("signs out, and shows nothing more of the account", async () => {
    const visitor = await stage.visitor();
    const page = await visitor.open("/");
    await page.getByRole("button", { name: /^Account/ }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await page.goto("/agents/poet");
    await expect.poll(() => new URL(page.url()).pathname, PATIENCE).toBe("/sign-in");
    await page.getByLabel("Account", { exact: true }).fill("not/a/name");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("alert").filter({ hasText: /\w/ }).waitFor();
  });
});
