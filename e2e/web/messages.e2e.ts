import { readFile } from "node:fs/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { hasChromium } from "../browser/chromium.js";
import { type Stage, startStage } from "./rig/start-stage.js";
import { PATIENCE, type ThreadScreen, threadScreen } from "./rig/thread-screen.js";

let stage: Stage;

describe.runIf(hasChromium())("What an agent said", () => {
  beforeAll(async () => {
    stage = await startStage();
  });
  afterEach((test) => stage?.clear(test));
  afterAll(() => stage?.stop());

  async function talk(...words: readonly string[]): Promise<ThreadScreen> {
    const visitor = await stage.visitor();
    const screen = threadScreen(await visitor.open("/agents/poet"));
    for (const one of words) {
      await screen.say(one);
      await screen.untilDone();
    }
    return screen;
  }

  it("is found by its words, by keyboard alone", async () => {
    const { page, conversation, composer } = await talk(
      "Write about rooftops",
      "Write about the last train home",
    );
    await composer.press("Escape");
    await conversation.press("f");
    const field = page.getByRole("textbox", { name: "Find in this thread" });
    await field.pressSequentially("TRAIN HOME");
    const count = page.getByText(/^\d+ of \d+$/);
    await count.waitFor();
    expect(await count.textContent()).toMatch(/^1 of [1-9]/);
    await field.press("Enter");
    await field.fill("zeppelin");
    await page.getByText("Not found").waitFor();
    await field.press("Escape");
    await field.waitFor({ state: "detached" });
  });

  it("has an address of its own", async () => {
    const { page, conversation } = await talk("Write about rooftops", "Write about the last train home");
    const turn = conversation.getByRole("listitem").first();
    const anchor = await turn.getAttribute("id");
    await page.goto(`${new URL(page.url()).pathname}#${anchor}`);
    await expect
      .poll(() => conversation.locator("[data-linked=true]").getAttribute("id"), PATIENCE)
      .toBe(anchor);
    await expect.poll(() => turn.isVisible(), PATIENCE).toBe(true);
  });

  it("can be taken away as Markdown and as JSON", async () => {
    const { page } = await talk("Write about rooftops");
    const take = async (name: string) => {
      await page.getByRole("button", { name: "Thread actions" }).click();
      const download = page.waitForEvent("download");
      await page.getByRole("menuitem", { name }).click();
      return readFile(await (await download).path(), "utf8");
    };
    expect(await take("Export as Markdown")).toMatch(
      /^# .*rooftops.*\n\n## You\n\nWrite about rooftops\n\n## Poet\n\n/s,
    );
    const { messages } = JSON.parse(await take("Export as JSON"));
    expect(messages[0]).toMatchObject({ role: "user", content: "Write about rooftops" });
  });
});
