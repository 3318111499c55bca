/// <reference lib="dom" />
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { hasChromium } from "../browser/chromium.js";
import { ask } from "./rig/asker.js";
import { runElsewhere } from "./rig/run-elsewhere.js";
import { type Stage, startStage } from "./rig/start-stage.js";
import { PATIENCE, threadScreen } from "./rig/thread-screen.js";

let stage: Stage;

const THREADS = 96;
const AT_ONCE = 4;

describe.runIf(hasChromium())("A long list of threads", () => {
  beforeAll(async () => {
    stage = await startStage({
      graphs: new URL("./rig/asker-graphs.ts", import.meta.url),
      env: { THROUGHLINE_OFFLINE_PACE_MS: "0" },
    });
  });
  afterEach((test) => stage?.clear(test));
  afterAll(() => stage?.stop());

  const sidebarOf = (page: Page) => page.getByRole("navigation", { name: "Agents" });
  const rowsOf = (page: Page) => sidebarOf(page).getByRole("link", { name: /a line about/ });
  const more = (page: Page) => sidebarOf(page).getByRole("button", { name: "Show more" });
  const hasFocus = (one: Locator) => one.evaluate((element) => element.matches(":focus"));

  const titlesOf = (page: Page): Promise<readonly string[]> =>
    rowsOf(page).evaluateAll((links) => links.map((link) => link.getAttribute("title") ?? ""));

  /** The first four are the oldest, in any order: they run at once. */
  async function fillList(account: string): Promise<void> {
    for (let from = 0; from < THREADS; from += AT_ONCE) {
      await Promise.all(
        Array.from({ length: AT_ONCE }, (_, at) => {
          const threadId = `thread${from + at}`;
          return runElsewhere(stage, {
            account,
            agent: "poet",
            threadId,
            content: `a line about ${threadId}`,
          });
        }),
      );
    }
  }

  it("grows by a button, keeps the place of who pressed it, and stays whole while threads come and move", async () => {
    const visitor = await stage.visitor();
    const { account } = visitor;
    await fillList(account);
    const page = await visitor.open("/agents/poet/thread0");
    await threadScreen(page).untilLive();
    await expect.poll(() => rowsOf(page).count(), PATIENCE).toBe(30);
    await sidebarOf(page).getByText("30 shown").waitFor();
    const first = await titlesOf(page);

    await more(page).press("Enter");
    await sidebarOf(page).getByText("80 shown").waitFor();
    await expect.poll(() => hasFocus(rowsOf(page).nth(30)), PATIENCE).toBe(true);
    const longer = await titlesOf(page);
    expect(longer.slice(0, 30)).toEqual(first);
    expect(new Set(longer).size).toBe(80);

    // A new one at the top pushes one over the edge of the first page, and an old one moves up.
    await runElsewhere(stage, { account, agent: "poet", threadId: "fresh", content: "a line about fresh" });
    await runElsewhere(stage, {
      account,
      agent: "poet",
      threadId: "thread40",
      content: "a line about again",
    });
    const moved = longer.filter((title) => title !== "a line about thread40");
    await expect
      .poll(() => titlesOf(page), PATIENCE)
      .toEqual(["a line about thread40", "a line about fresh", ...moved]);
    const unread = sidebarOf(page).getByRole("link", { name: /a line about .*something new/ });
    await expect.poll(() => unread.count(), PATIENCE).toBe(2);

    await more(page).press("Enter");
    await more(page).waitFor({ state: "detached" });
    await sidebarOf(page)
      .getByText(`${THREADS + 1} shown`)
      .waitFor();
    const all = await titlesOf(page);
    expect(new Set(all).size).toBe(THREADS + 1);
    expect(all).toHaveLength(THREADS + 1);

    // What leaves the list leaves it at any depth, and the focus goes to the next; behind thread10 there is one.
    const actions = sidebarOf(page).getByRole("button", {
      name: "Actions for a line about thread10",
      exact: true,
    });
    await actions.press("Enter");
    await page.getByRole("menuitem", { name: "Archive" }).press("Enter");
    await expect.poll(() => titlesOf(page), PATIENCE).not.toContain("a line about thread10");
    const place = all.indexOf("a line about thread10");
    await expect.poll(() => hasFocus(rowsOf(page).nth(place)), PATIENCE).toBe(true);
    expect(await rowsOf(page).count()).toBe(THREADS);
    expect(visitor.complaints()).toEqual([]);

    await sidebarOf(page).getByRole("searchbox").fill("line about thread");
    await sidebarOf(page).getByText("50 shown").waitFor();
    await more(page).click();
    await sidebarOf(page)
      .getByText(`${THREADS - 1} shown`)
      .waitFor();
    expect(new Set(await titlesOf(page)).size).toBe(THREADS - 1);

    await page.keyboard.press("ControlOrMeta+k");
    await page.getByRole("combobox").fill("about thread12");
    // The thread by its title, and the message that it began with.
    await page
      .getByRole("option", { name: /a line about thread12/ })
      .first()
      .waitFor();
  });

  it("has what waits for a person, however long ago it asked", async () => {
    const visitor = await stage.visitor();
    const thread = { account: visitor.account, agent: "asker" };
    await runElsewhere(stage, { ...thread, threadId: "patient", content: ask({ message: "Still there?" }) });
    for (let at = 0; at < 31; at += 1) {
      await runElsewhere(stage, { ...thread, threadId: `later${at}`, content: ask() });
    }
    const page = await visitor.open("/");
    await sidebarOf(page)
      .getByRole("link", { name: /Waiting for you.*asker/ })
      .click();
    await page.waitForURL("**/agents/asker/patient");
    await threadScreen(page).questions.getByText("Still there?").waitFor();
    await sidebarOf(page)
      .getByRole("link", { name: /Still there\?.*Waiting for you/ })
      .waitFor();
    await sidebarOf(page).getByText("31 shown").waitFor();
    await more(page).press("Enter");
    await sidebarOf(page).getByText("32 shown").waitFor();
  });
});
