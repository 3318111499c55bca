/// <reference lib="dom" />
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { hasChromium } from "../browser/chromium.js";
import { dropOn } from "./rig/drop-on.js";
import { runElsewhere } from "./rig/run-elsewhere.js";
import { type Stage, startStage } from "./rig/start-stage.js";
import { PATIENCE, type ThreadScreen, threadScreen } from "./rig/thread-screen.js";

let stage: Stage;
let folder: string;

const MIB = 1_048_576;

describe.runIf(hasChromium())("What a person gives to the composer", () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "throughline-files-"));
    stage = await startStage();
  });
  afterEach((test) => stage?.clear(test));
  afterAll(async () => {
    await stage?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const filesToSend = (page: Page) => page.getByRole("list", { name: "Files to send" });
  const attachments = ({ conversation }: ThreadScreen) =>
    conversation.getByRole("list", { name: "Attachments" });
  const untilReady = async (page: Page, name: string) => {
    await filesToSend(page).getByText(name).waitFor();
    await filesToSend(page).getByText("Uploading…").waitFor({ state: "detached" });
  };
  const pathOf = (page: Page) => new URL(page.url()).pathname;
  const composerText = (screen: ThreadScreen) => screen.composer.inputValue();

  async function dropFile(page: Page, name: string, content: string): Promise<void> {
    const path = join(folder, name);
    writeFileSync(path, content);
    await dropOn(threadScreen(page).composer, path, () => page.getByText("Drop to attach").waitFor());
  }

  it("is a file that was dropped on it: it goes with the message, and is there for who comes later", async () => {
    const visitor = await stage.visitor();
    const page = await visitor.open("/agents/chat");
    const screen = threadScreen(page);
    await screen.untilLive();
    await dropFile(page, "tides.txt", "High at noon.");
    await untilReady(page, "tides.txt");
    await screen.say("What does it say?");
    await attachments(screen).getByRole("link", { name: "tides.txt" }).waitFor();
    await filesToSend(page).waitFor({ state: "detached" });
    await screen.untilDone();
    await page.reload();
    const link = attachments(screen).getByRole("link", { name: "tides.txt" });
    const answer = await visitor.context.request.get((await link.getAttribute("href")) ?? "", {
      headers: { origin: stage.url, "sec-fetch-mode": "navigate" },
    });
    expect(await answer.text()).toBe("High at noon.");
    expect(visitor.complaints()).toEqual([]);
  });

  it("is a picture from the clipboard, which the message then shows; words stay words", async () => {
    const visitor = await stage.visitor();
    await visitor.context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const page = await visitor.open("/agents/chat");
    const screen = threadScreen(page);
    await screen.untilLive();
    await page.evaluate(async () => {
      const canvas = new OffscreenCanvas(24, 16);
      canvas.getContext("2d")?.fillRect(0, 0, 24, 16);
      const picture = await canvas.convertToBlob({ type: "image/png" });
      await navigator.clipboard.write([new ClipboardItem({ "image/png": picture })]);
    });
    await screen.composer.focus();
    await page.keyboard.press("ControlOrMeta+v");
    await untilReady(page, "image.png");
    await page.evaluate(() => navigator.clipboard.writeText("Look at this"));
    await page.keyboard.press("ControlOrMeta+v");
    expect(await composerText(screen)).toBe("Look at this");
    await page.keyboard.press("Enter");
    const picture = attachments(screen).getByRole("img", { name: "image.png" });
    await expect
      .poll(
        () => picture.evaluate((image) => image instanceof HTMLImageElement && image.naturalWidth),
        PATIENCE,
      )
      .toBe(24);
    await screen.untilShown("Look at this");
    await screen.untilDone();
    expect(visitor.complaints()).toEqual([]);
  });

  it("is refused with the reason where it can't be attached or is too large, and can be taken away again", async () => {
    const visitor = await stage.visitor();
    const page = await visitor.open("/agents/chat");
    const screen = threadScreen(page);
    await screen.untilLive();
    await dropFile(page, "setup.exe", "MZ");
    await filesToSend(page).getByRole("alert").getByText("This kind of file can't be attached.").waitFor();
    await page.getByLabel("Files to attach").setInputFiles({
      name: "huge.png",
      mimeType: "image/png",
      buffer: Buffer.alloc(10 * MIB + 1),
    });
    await filesToSend(page).getByRole("alert").getByText("Too large: at most 10 MB for a picture.").waitFor();
    expect(await page.getByRole("button", { name: "Send", exact: true }).isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Remove setup.exe" }).press("Enter");
    await page.getByRole("button", { name: "Remove huge.png" }).press("Enter");
    await filesToSend(page).waitFor({ state: "detached" });
    expect(await screen.composer.evaluate((area) => area.matches(":focus"))).toBe(true);
  });

  describe("and has not sent", () => {
    it("is there after a reload, after a look at another thread and after the tab crashed, in its thread alone", async () => {
      const visitor = await stage.visitor();
      for (const [threadId, content] of [
        ["one", "a line about one"],
        ["two", "a line about two"],
      ] as const) {
        await runElsewhere(stage, { account: visitor.account, agent: "poet", threadId, content });
      }
      const page = await visitor.open("/agents/poet/one");
      const screen = threadScreen(page);
      await screen.untilLive();
      await screen.composer.fill("Begun in one");
      await page.reload();
      await expect.poll(() => composerText(screen), PATIENCE).toBe("Begun in one");

      const sidebar = page.getByRole("navigation", { name: "Agents" });
      await sidebar.getByRole("link", { name: /a line about two/ }).click();
      await page.waitForURL("**/agents/poet/two");
      await expect.poll(() => composerText(screen), PATIENCE).toBe("");
      await screen.composer.fill("Begun in two");
      await sidebar.getByRole("link", { name: "New thread", exact: true }).click();
      await page.waitForURL("**/agents/poet");
      await expect.poll(() => composerText(screen), PATIENCE).toBe("");
      await screen.composer.fill("Begun in none");
      await sidebar.getByRole("link", { name: /a line about one/ }).click();
      await expect.poll(() => composerText(screen), PATIENCE).toBe("Begun in one");

      const crashed = page.waitForEvent("crash");
      await page.goto("chrome://crash").catch(() => undefined);
      await crashed;
      for (const [path, text] of [
        ["/agents/poet/one", "Begun in one"],
        ["/agents/poet/two", "Begun in two"],
        ["/agents/poet", "Begun in none"],
        ["/agents/chat", ""],
      ] as const) {
        const again = threadScreen(await visitor.open(path));
        await again.untilLive();
        expect(await composerText(again), path).toBe(text);
      }
    });

    it("goes along when the thread begins without it, and is gone everywhere once it is sent", async () => {
      const visitor = await stage.visitor();
      const page = await visitor.open("/agents/sentinel");
      const screen = threadScreen(page);
      await screen.untilLive();
      await screen.composer.fill("What are you watching?");
      await page.getByRole("button", { name: "Hire" }).click();
      await page.waitForURL("**/agents/sentinel/*");
      await screen.untilDone();
      expect(await composerText(screen)).toBe("What are you watching?");
      const other = threadScreen(await visitor.open(pathOf(page)));
      await expect.poll(() => composerText(other), PATIENCE).toBe("What are you watching?");
      await screen.composer.press("Enter");
      await screen.untilShown("What are you watching?");
      await expect.poll(() => composerText(other), PATIENCE).toBe("");
      await screen.untilDone();
      await page.reload();
      await screen.untilShown("What are you watching?");
      expect(await composerText(screen)).toBe("");
      await page.goto("/agents/sentinel");
      await screen.untilLive();
      expect(await composerText(screen)).toBe("");
    });

    it("is each tab's own in threads that have not begun: what one sends takes nothing from the other", async () => {
      const visitor = await stage.visitor();
      const first = threadScreen(await visitor.open("/agents/poet"));
      const second = threadScreen(await visitor.open("/agents/poet"));
      for (const screen of [first, second]) await screen.untilLive();
      await first.composer.fill("Write about ash");
      await second.composer.fill("Write about elm");
      expect(await composerText(first)).toBe("Write about ash");
      await first.composer.press("Enter");
      await first.untilDone();
      expect(await composerText(second)).toBe("Write about elm");
      await second.page.reload();
      await expect.poll(() => composerText(second), PATIENCE).toBe("Write about elm");
    });

    it("keeps its files where the thread has a name, and says which it could not keep", async () => {
      const visitor = await stage.visitor();
      await runElsewhere(stage, {
        account: visitor.account,
        agent: "chat",
        threadId: "letters",
        content: "What is 2 + 2?",
      });
      const page = await visitor.open("/agents/chat/letters");
      const screen = threadScreen(page);
      await screen.untilLive();
      await dropFile(page, "letter.md", "# Dear all");
      await untilReady(page, "letter.md");
      await page.reload();
      await untilReady(page, "letter.md");
      await screen.say("As I wrote");
      await attachments(screen).getByRole("link", { name: "letter.md" }).waitFor();
      await screen.untilDone();

      await page.goto("/agents/chat");
      await screen.untilLive();
      await dropFile(page, "stamp.txt", "One penny");
      await untilReady(page, "stamp.txt");
      await page.reload();
      await filesToSend(page)
        .getByText("This file was not kept when the page closed. Attach it again.")
        .waitFor();
    });

    it("comes back after a reload when it was sent and never arrived, and arrives once when it is sent again", async () => {
      const visitor = await stage.visitor();
      const page = await visitor.open("/agents/poet");
      const screen = threadScreen(page);
      await screen.say("Write about moss");
      await screen.untilDone();
      await visitor.context.setOffline(true);
      await screen.say("Write about fern");
      await page.getByRole("button", { name: "Send again" }).waitFor();
      expect(await composerText(screen)).toBe("");
      await page.getByRole("button", { name: "Edit", exact: true }).press("Enter");
      await expect.poll(() => composerText(screen), PATIENCE).toBe("Write about fern");
      await expect
        .poll(() => screen.composer.evaluate((area) => area.matches(":focus")), PATIENCE)
        .toBe(true);
      expect(await screen.lines()).not.toContain("Write about fern");
      await screen.composer.press("Enter");
      await page.getByRole("button", { name: "Send again" }).waitFor();
      await visitor.context.setOffline(false);
      await page.reload();
      await screen.untilShown("moss");
      await expect.poll(() => composerText(screen), PATIENCE).toBe("Write about fern");
      await screen.composer.press("Enter");
      await screen.untilShown(/Write about fern.*fern/);
      await screen.untilDone();
      await page.reload();
      await screen.untilShown(/Write about fern.*fern/);
      await screen.untilLive();
      expect(await composerText(screen)).toBe("");
      const said = (await screen.lines()).filter((line) => line === "Write about fern");
      expect(said).toHaveLength(1);
    });

    it("is for nobody else to read: neither after signing out, nor when somebody else signs in", async () => {
      const visitor = await stage.visitor();
      const page = await visitor.open("/agents/poet");
      const screen = threadScreen(page);
      const stored = () =>
        page.evaluate(() => JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage)]));
      const signInAs = async (account: string) => {
        await page.getByLabel("Account", { exact: true }).fill(account);
        await page.getByRole("button", { name: "Continue" }).click();
        await page.getByRole("button", { name: new RegExp(`^Account ${account}`) }).waitFor();
      };
      await screen.untilLive();
      await screen.composer.fill("the amber lighthouse");
      await expect.poll(stored, PATIENCE).toContain("amber");
      await page.getByRole("button", { name: /^Account/ }).click();
      await page.getByRole("menuitem", { name: "Sign out" }).click();
      await page.getByRole("heading", { name: "Sign in" }).waitFor();
      expect(await stored()).not.toContain("amber");

      await signInAs("first");
      await page.goto("/agents/poet");
      await screen.untilLive();
      await screen.composer.fill("the jade lighthouse");
      await expect.poll(stored, PATIENCE).toContain("jade");
      // A session that ran out: who comes back goes on, and who else comes finds nothing.
      for (const [account, text] of [
        ["first", "the jade lighthouse"],
        ["second", ""],
      ] as const) {
        await visitor.context.clearCookies();
        await page.goto("/agents/poet");
        await page.getByRole("heading", { name: "Sign in" }).waitFor();
        await signInAs(account);
        await page.goto("/agents/poet");
        await screen.untilLive();
        expect(await composerText(screen), account).toBe(text);
      }
      expect(await stored()).not.toContain("jade");
    });
  });
});
