import { isDeepStrictEqual } from "node:util";
import type { CommandOutcome } from "@throughline/agent-client";
import type { BrowserContext, Page } from "playwright-core";
import { expect } from "vitest";
import type { TabNow } from "./tab.js";

/** A tab of a real browser, driven from here. */
export interface OpenTab {
  readonly page: Page;
  send(text: string): Promise<CommandOutcome>;
  answer(value: string): Promise<CommandOutcome>;
  shown(): Promise<object>;
  now(): Promise<TabNow>;
  /** Resolves once the tab stands like this. */
  until(isSo: (now: TabNow) => boolean): Promise<void>;
  /** Resolves once the tab shows what is expected. */
  toShow(expected: () => object | Promise<object>): Promise<void>;
  /** As browsers freeze hidden tabs: nothing in it runs any more. Another tab must be in front. */
  setFrozen(isFrozen: boolean): Promise<void>;
}

const PATIENCE = { timeout: 60_000, interval: 50 };

export async function openTab(context: BrowserContext, url: string): Promise<OpenTab> {
  const page = await context.newPage();
  await page.goto(url);
  return driveTab(context, page);
}

function driveTab(context: BrowserContext, page: Page): OpenTab {
  const now = () => page.evaluate(() => globalThis.tab.now());
  const shown = async () => plain(await page.evaluate(() => globalThis.tab.shown()));
  return {
    page,
    now,
    shown,
    send: (text) => page.evaluate((said) => globalThis.tab.send(said), text),
    answer: (value) => page.evaluate((said) => globalThis.tab.answer(said), value),
    until: (isSo) => expect.poll(async () => isSo(await now()), PATIENCE).toBe(true),
    toShow: (expected) =>
      expect
        .poll(async () => {
          const [seen, wanted] = [await shown(), await expected()];
          return isDeepStrictEqual(seen, plain(wanted)) ? "the same" : { seen, wanted };
        }, PATIENCE)
        .toBe("the same"),
    async setFrozen(isFrozen) {
      const session = await context.newCDPSession(page);
      await session.send("Page.setWebLifecycleState", { state: isFrozen ? "frozen" : "active" });
      await session.detach();
    },
  };
}

/** As it comes out of a browser. */
function plain(value: object): object {
  return JSON.parse(JSON.stringify(value));
}
