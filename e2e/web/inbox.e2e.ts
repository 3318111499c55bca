import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { hasChromium } from "../browser/chromium.js";
import { graveFaults } from "./rig/grave-faults.js";
import { runElsewhere } from "./rig/run-elsewhere.js";
import { type Stage, startStage } from "./rig/start-stage.js";
import { PATIENCE, threadScreen } from "./rig/thread-screen.js";
import type { Visitor } from "./rig/visitor.js";

const PHONE = { width: 360, height: 740 };
const REFUND = "Refund order 1042";

let stage: Stage;

describe.runIf(hasChromium())("The inbox", () => {
  beforeAll(async () => {
    stage = await startStage({ env: { THROUGHLINE_OFFLINE_PACE_MS: "0" } });
  });
  afterEach((test) => stage?.clear(test));
  afterAll(() => stage?.stop());

  const thread = (page: Page, name: string | RegExp) => page.getByRole("listitem", { name });
  const asks = ({ account }: Visitor, agent: string, threadId: string, content: string) =>
    runElsewhere(stage, { account, agent, threadId, content });

  it("has the questions of all agents, takes answers in place, and shows new ones without a reload", async () => {
    const visitor = await stage.visitor();
    const page = await visitor.open("/inbox");
    await page.getByText("Nothing waits for you").waitFor();
    await asks(visitor, "travel", "trip", "Plan my trip");
    await asks(visitor, "approver", "order", REFUND);
    await thread(page, /Travel/i).waitFor();
    await thread(page, /Approver/i).waitFor();
    await expect.poll(() => page.title(), PATIENCE).toMatch(/^\(2\) Inbox/);
    await page.getByRole("link", { name: /Inbox.*2 questions wait/ }).waitFor();

    await thread(page, /Travel/i)
      .getByRole("button", { name: /KLM/ })
      .click();
    // It goes on, and asks the next thing.
    await thread(page, /Travel/i)
      .getByRole("button", { name: /Zephyr/ })
      .waitFor();
    await thread(page, /Approver/i)
      .getByRole("button", { name: "Approve", exact: true })
      .click();
    await thread(page, /Approver/i).waitFor({ state: "detached" });
    const screen = threadScreen(await visitor.open("/agents/approver/order"));
    await screen.untilShown("You approved refund_order");
    const trip = threadScreen(await visitor.open("/agents/travel/trip"));
    await trip.untilShown("You chose KLM");
    expect(visitor.complaints()).toEqual([]);
  });

  it("is used by keys alone, and so is the palette's way to it", async () => {
    const visitor = await stage.visitor();
    await asks(visitor, "approver", "first", REFUND);
    await asks(visitor, "approver", "second", "Refund order 2077");
    const page = await visitor.open("/");
    await page.getByRole("link", { name: /Inbox.*2 questions wait/ }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("option").first().filter({ hasText: "2 questions wait" }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Inbox" }).waitFor();
    await page.getByRole("group", { name: "refund_order" }).nth(1).waitFor();
    const focused = () => page.evaluate(() => document.activeElement?.closest("li")?.textContent ?? "");
    const titles = await page.getByRole("main").getByRole("heading", { level: 2 }).allTextContents();
    await page.keyboard.press("j");
    await expect.poll(focused, PATIENCE).toContain(titles[0]);
    await page.keyboard.press("j");
    await expect.poll(focused, PATIENCE).toContain(titles[1]);
    await page.keyboard.press("r");
    await page.getByLabel("Reason").fill("Too dear");
    await page.keyboard.press("Control+Enter");
    await expect.poll(() => page.getByRole("group", { name: "refund_order" }).count(), PATIENCE).toBe(1);
    await page.keyboard.press("k");
    await page.keyboard.press("e");
    await page.getByLabel("Amount").fill("12");
    await page.keyboard.press("Control+Enter");
    await page.getByText("Nothing waits for you").waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("h");
    await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("i");
    await page.getByRole("heading", { name: "Inbox" }).waitFor();
  });

  it("approves many with one press, also in the other tab's list, and leaves out what asks for more", async () => {
    const visitor = await stage.visitor();
    await asks(visitor, "travel", "trip", "Plan my trip");
    for (const name of ["one", "two", "three"]) await asks(visitor, "approver", name, REFUND);
    const page = await visitor.open("/inbox");
    const other = await visitor.open("/inbox");
    await thread(other, /Travel/i).waitFor();
    expect(
      await thread(page, /Travel/i)
        .getByRole("checkbox")
        .count(),
    ).toBe(0);
    await page.getByLabel("Select all 3 that only need approval").check();
    await thread(page, /Approver/i)
      .getByRole("checkbox")
      .first()
      .uncheck();
    await page.getByRole("button", { name: "Approve selected (2)" }).click();
    for (const tab of [page, other]) {
      await expect.poll(() => thread(tab, /Approver/i).count(), PATIENCE).toBe(1);
      await thread(tab, /Travel/i).waitFor();
    }
  });

  it("notifies once per browser, and a click leads to the question", async () => {
    const visitor = await stage.visitor();
    await visitor.context.addInitScript(() => {
      const shown: object[] = [];
      function FakeNotification(this: object, title: string) {
        shown.push(Object.assign(this, { title, close() {} }));
      }
      const granted = async () => Object.assign(FakeNotification, { permission: "granted" }).permission;
      Object.assign(FakeNotification, { permission: "default", requestPermission: granted });
      Object.assign(globalThis, { Notification: FakeNotification, shown });
    });
    const shownIn = (tab: Page) =>
      tab.evaluate(() => (globalThis as unknown as { shown: { title: string }[] }).shown.length);
    await asks(visitor, "travel", "before", "Plan my trip");
    const page = await visitor.open("/inbox");
    await thread(page, /Travel/i).waitFor();
    await page.getByRole("button", { name: "Notify me" }).click();
    await page.getByRole("button", { name: "Notifications are on" }).waitFor();
    const other = await visitor.open("/");
    await asks(visitor, "approver", "order", REFUND);
    await expect.poll(() => shownIn(page), PATIENCE).toBe(1);
    await other.getByRole("link", { name: /Inbox.*2 questions wait/ }).waitFor();
    expect(await shownIn(other)).toBe(0);
    await page.evaluate(() =>
      (globalThis as unknown as { shown: { onclick(): void }[] }).shown[0]?.onclick(),
    );
    await page.waitForURL("**/agents/approver/order");
    await threadScreen(page).questions.waitFor();
  });

  it.each(["light", "dark"] as const)("fits a phone and has no serious fault in %s", async (colorScheme) => {
    const visitor = await stage.visitor({ colorScheme, viewport: PHONE });
    await asks(visitor, "travel", "trip", "Plan my trip");
    for (const name of ["one", "two"])
      await asks(visitor, "approver", name, "Refund order 1042 and send an email");
    const page = await visitor.open("/inbox");
    await page.getByRole("group", { name: "send_email" }).nth(1).waitFor();
    expect(await graveFaults(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE.width);
  });

  it("asks the same on the thread's page, each call on the line of its tool", async () => {
    const visitor = await stage.visitor();
    const screen = threadScreen(await visitor.open("/agents/approver"));
    await screen.say("Refund order 1042 and send an email");
    const row = screen.conversation.getByRole("group", { name: "refund_order" });
    await row.waitFor();
    // Not in the card below, where rows of calls stand that the conversation does not show.
    await expect
      .poll(() => screen.questions.getByRole("group", { name: /refund_order|send_email/ }).count(), PATIENCE)
      .toBe(0);
    await row.press("a");
    await screen.conversation.getByRole("group", { name: "send_email" }).press("a");
    await screen.questions.getByRole("button", { name: "Send decisions" }).click();
    await screen.untilShown("You approved refund_order, approved send_email");
  });
});
