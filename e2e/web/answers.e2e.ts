import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { hasChromium } from "../browser/chromium.js";
import { tabTo } from "./rig/keyboard.js";
import { type Stage, startStage } from "./rig/start-stage.js";
import { PATIENCE, type ThreadScreen, threadScreen } from "./rig/thread-screen.js";

let stage: Stage;

describe.runIf(hasChromium())("An answer", () => {
  beforeAll(async () => {
    stage = await startStage({
      graphs: new URL("./rig/counter-graphs.ts", import.meta.url),
      env: { THROUGHLINE_SHOW_GRAPH_ERRORS: "yes" },
    });
  });
  afterEach((test) => stage?.clear(test));
  afterAll(() => stage?.stop());

  const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

  /** What the counter says to something: each answer has a number of its own. */
  async function hear(screen: ThreadScreen, words: string): Promise<string> {
    await screen.say(words);
    await screen.untilShown(`to ${words}.`);
    await screen.untilDone();
    return answerTo(screen, words);
  }

  async function answerTo(screen: ThreadScreen, words: string): Promise<string> {
    const text = (await screen.lines()).find((line) => line.endsWith(`to ${words}.`));
    if (text === undefined) throw new Error(`No answer to ${words}.`);
    return text;
  }

  it("is made again, in every tab, and one in the middle after a question", async () => {
    const visitor = await stage.visitor();
    const screen = threadScreen(await visitor.open("/agents/counter"));
    const first = await hear(screen, "one");
    await button(screen.page, "Regenerate").click();
    await expect.poll(() => answerTo(screen, "one").catch(() => first), PATIENCE).not.toBe(first);
    await screen.untilDone();
    const second = await answerTo(screen, "one");
    await hear(screen, "two");
    const other = threadScreen(await visitor.open(new URL(screen.page.url()).pathname));
    await other.untilShown("to two.");

    const again = button(screen.page, "Regenerate").first();
    await again.focus();
    await screen.page.keyboard.press("Enter");
    await screen.page.getByRole("dialog", { name: "Regenerate this answer?" }).waitFor();
    await screen.page.keyboard.press("Tab");
    await tabTo(screen.page, "button", /"Regenerate"/);
    await screen.page.keyboard.press("Enter");
    for (const one of [screen, other]) {
      await expect.poll(() => answerTo(one, "one").catch(() => second), PATIENCE).not.toBe(second);
      await one.untilDone();
      expect((await one.lines()).some((line) => line.endsWith("to two."))).toBe(false);
    }
    expect(await answerTo(other, "one")).toBe(await answerTo(screen, "one"));
    expect(visitor.complaints()).toEqual([]);
  });

  it("gets a thumb and a note by keyboard, which are there after a reload and can be taken back", async () => {
    const visitor = await stage.visitor();
    const screen = threadScreen(await visitor.open("/agents/counter"));
    const { page } = screen;
    await hear(screen, "three");
    const bad = button(page, "Bad answer");
    await bad.focus();
    await page.keyboard.press("Enter");
    await page.getByLabel("Note (optional)").waitFor();
    await expect
      .poll(() => page.getByLabel("Note (optional)").evaluate((field) => field.matches(":focus")), PATIENCE)
      .toBe(true);
    await page.keyboard.type("Too short.");
    await tabTo(page, "button", /Save note/);
    await page.keyboard.press("Enter");
    await page.getByText("Your note: Too short.").waitFor();
    await expect.poll(() => bad.evaluate((one) => one.matches(":focus")), PATIENCE).toBe(true);

    await page.reload();
    await page.getByText("Your note: Too short.").waitFor();
    expect(await bad.getAttribute("aria-pressed")).toBe("true");
    await bad.click();
    await page.getByText("Your note: Too short.").waitFor({ state: "detached" });
    await expect.poll(() => bad.getAttribute("aria-pressed"), PATIENCE).toBe("false");
    expect(visitor.complaints()).toEqual([]);
  });

  it("that failed says why, marks the step, and is tried again", async () => {
    const visitor = await stage.visitor();
    const screen = threadScreen(await visitor.open("/agents/counter"));
    const { page } = screen;
    await screen.say("fail at four");
    await screen.untilShown("The run failed in node `count`: RangeError: there is no such number");
    const step = page.getByRole("button", { name: /count failed/ });
    await step.click();
    await page.getByRole("button", { name: /^Step count failed: there is no such number/ }).waitFor();
    await page.getByText("Why it failed").click();
    await page
      .getByText(/at .*counter/)
      .first()
      .waitFor();

    await button(page, "Open the inspector").click();
    await page
      .getByRole("region", { name: "Inspector" })
      .getByText(/count · RangeError: there is no such number/)
      .first()
      .click();
    await page
      .getByRole("region", { name: /^Entry \d+ error/ })
      .getByText("the node's code")
      .waitFor();
    await button(page, "Close the inspector").click();

    await button(page, "Try again").click();
    await screen.untilShown("to fail at four.");
    await screen.untilDone();
    // The run that failed still says why.
    await screen.untilShown("The run failed in node `count`: RangeError: there is no such number");
    expect(visitor.complaints()).toEqual([]);
  });

  it("is found in the palette by its words, and a fork leads back to it", async () => {
    const visitor = await stage.visitor();
    const screen = threadScreen(await visitor.open("/agents/counter"));
    const { page } = screen;
    await hear(screen, "marzipan");
    for (const word of ["five", "six", "seven"]) await hear(screen, word);
    const origin = new URL(page.url()).pathname;

    await page.goto(stage.url);
    await page.keyboard.press("ControlOrMeta+k");
    await page.getByRole("combobox").fill("marzip");
    await page.getByRole("group", { name: "Messages" }).getByRole("option").first().waitFor();
    await page.getByRole("option", { name: /marzipan\..*counter/ }).click();
    await page.waitForURL(`**${origin}#message-*`);
    await screen.conversation.getByText(/to marzipan\./).waitFor();

    await screen.conversation.getByText("seven", { exact: true }).hover();
    await button(page, "Edit and continue in a new thread").last().click();
    await page.getByLabel("Your message").fill("eight");
    await button(page, "Send in a new thread").click();
    await screen.untilShown("to eight.");
    const back = page.getByText(/^Forked from/).getByRole("link");
    expect(await back.textContent()).toBe("marzipan");
    await back.click();
    await page.waitForURL(`**${origin}#message-*`);
    await screen.untilShown("to seven.");
    expect(visitor.complaints()).toEqual([]);
  });

  it("to a command says who ran what", async () => {
    const visitor = await stage.visitor();
    const screen = threadScreen(await visitor.open("/agents/sentinel"));
    await button(screen.page, "Hire").click();
    await screen.conversation.getByText("You ran hire").waitFor();
    await screen.page.reload();
    await screen.conversation.getByText("You ran hire").waitFor();
  });
});
