import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { hasChromium } from "../browser/chromium.js";
import { talk } from "../server/graphs/talker.js";
import { menuItemByLetter, tabTo } from "./rig/keyboard.js";
import { type Stage, startStage } from "./rig/start-stage.js";
import { threadScreen } from "./rig/thread-screen.js";
import { untilLoaded } from "./rig/until-loaded.js";

let stage: Stage;

describe.runIf(hasChromium())("With the keyboard alone", () => {
  beforeAll(async () => {
    stage = await startStage({ graphs: new URL("./rig/stage-graphs.ts", import.meta.url) });
  });
  afterEach((test) => stage?.clear(test));
  afterAll(() => stage?.stop());

  it("one signs in, begins a thread from the list of agents and talks", async () => {
    const visitor = await stage.visitor({ isStranger: true });
    const page = await visitor.open("/");
    await page.keyboard.press("Control+a");
    await page.keyboard.type("keys-only");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "New thread with Poet" }).waitFor();
    await tabTo(page, "link", /New thread with Poet/);
    await page.keyboard.press("Enter");
    const screen = threadScreen(page);
    await screen.composer.waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("Write about anchors");
    await page.keyboard.press("Enter");
    await screen.untilShown(/anchors.*anchors/);
    await screen.untilDone();
  });

  it("one finds an agent by a few letters, stops it, and answers its questions", async () => {
    const visitor = await stage.visitor();
    const page = await visitor.open("/");
    await page.getByRole("link", { name: "New thread with Travel planner" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("new thread with travel");
    await page.keyboard.press("Enter");
    const screen = threadScreen(page);
    await screen.composer.waitFor();
    await tabTo(page, "button", /Plan a trip/);
    await page.keyboard.press("Enter");
    await screen.questions.waitFor();
    await tabTo(page, "button", /KLM/);
    await page.keyboard.press("Enter");
    await screen.questions.getByRole("button", { name: /Hotel Zephyr/ }).waitFor();
    await tabTo(page, "button", /Hotel Zephyr/);
    await page.keyboard.press("Enter");
    await screen.untilShown(/Your trip is planned/);
    await screen.untilDone();

    await page.keyboard.press("Control+k");
    await page.keyboard.type("new thread with talker");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/agents/talker");
    await page.getByRole("textbox", { name: "Message to talker" }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type(talk({ words: 900, paceMs: 20 }));
    await page.keyboard.press("Enter");
    await screen.untilShown("9:xxxxxx");
    await page.keyboard.press("Control+.");
    await screen.untilShown("Stopped.");
  });

  it("one schedules the sentinel and comes to its thread", async () => {
    const visitor = await stage.visitor();
    const page = await visitor.open("/");
    await page.getByRole("link", { name: "New thread with Sentinel" }).waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("c");
    await page.getByRole("link", { name: "New cron" }).first().waitFor();
    await tabTo(page, "link", /New cron/);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "New cron" }).waitFor();
    await page.getByLabel("Its name").waitFor();
    await tabTo(page, "button", /Create cron/);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Every 10 seconds" }).waitFor();
    await tabTo(page, "link", /scheduled/);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Hire" }).waitFor();
    await tabTo(page, "button", /Hire/);
    await page.keyboard.press("Enter");
    await threadScreen(page).untilShown(/Cycle 1: /);
  });

  it("one opens and leaves the side panel, the inspector, menus and dialogs, and the focus comes back", async () => {
    const visitor = await stage.visitor();
    const page = await visitor.open("/agents/poet");
    const screen = threadScreen(page);
    await screen.say("Write about hinges");
    await screen.untilDone();
    await screen.conversation.focus();
    await page.keyboard.press("Control+b");
    await page.getByRole("tablist", { name: "About this thread" }).waitFor();
    await tabTo(page, "tab", /./);
    await page.keyboard.press("End");
    await page.getByRole("tab", { name: "Usage", selected: true }).waitFor();
    await page.keyboard.press("Control+b");
    await page.getByRole("tablist", { name: "About this thread" }).waitFor({ state: "detached" });

    await page.keyboard.press("Control+j");
    await untilLoaded(page);
    await tabTo(page, "listbox", /Envelopes/);
    await page.keyboard.press("Home");
    await page.keyboard.press("Enter");
    const entry = page.getByRole("region", { name: /^Entry 1 / });
    await entry.waitFor();
    await page.keyboard.press("Escape");
    await entry.waitFor({ state: "detached" });
    await page.keyboard.press("Control+j");

    await tabTo(page, "button", /Account/);
    await page.keyboard.press("ArrowDown");
    await page.getByRole("menu").waitFor();
    await menuItemByLetter(page, "s", /"Shortcuts/);
    await page.keyboard.press("Enter");
    const shortcuts = page.getByRole("dialog", { name: "Shortcuts" });
    await shortcuts.waitFor();
    await page.keyboard.press("Escape");
    await shortcuts.waitFor({ state: "hidden" });
    expect(await page.locator(":focus").ariaSnapshot()).toMatch(/^- button "Account/);
  });
});
