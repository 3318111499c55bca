/// <reference lib="dom" />
import type { Locator } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { hasChromium } from "../browser/chromium.js";
import { talk } from "../server/graphs/talker.js";
import { runElsewhere } from "./rig/run-elsewhere.js";
import { type Stage, startStage } from "./rig/start-stage.js";
import { PATIENCE, type ThreadScreen, threadScreen } from "./rig/thread-screen.js";

const TURNS = 60;

let stage: Stage;

describe.runIf(hasChromium())("A long thread", () => {
  beforeAll(async () => {
    stage = await startStage({ graphs: new URL("./rig/stage-graphs.ts", import.meta.url) });
  });
  afterEach((test) => stage?.clear(test));
  afterAll(() => stage?.stop());

  const turnsOf = ({ conversation }: ThreadScreen) => conversation.locator("ol > li");

  /** Of `count` turns, each answer one word longer than the one before. */
  async function openLong(count: number): Promise<ThreadScreen> {
    const { account, open } = await stage.visitor();
    for (let turn = 1; turn <= count; turn += 1) {
      await runElsewhere(stage, {
        account,
        agent: "talker",
        threadId: "long",
        content: talk({ words: turn }),
      });
    }
    const screen = threadScreen(await open("/agents/talker/long"));
    await screen.untilShown(`${count - 1}:xxxxx`);
    return screen;
  }

  it("opens at its newest word, and soon has all of it for whoever searches the page", async () => {
    const screen = await openLong(TURNS);
    expect(await pixelsToEnd(screen.conversation)).toBe(0);
    expect(await turnsOf(screen).count()).toBe(TURNS);
    await expect
      .poll(() => wordsOf(turnsOf(screen)), PATIENCE)
      .toEqual(Array.from({ length: TURNS }, (_, turn) => turn + 1));
    expect(await pixelsToEnd(screen.conversation)).toBe(0);
  });

  it("shows its beginning at once to who goes there at once", async () => {
    const screen = await openLong(TURNS);
    await screen.conversation.press("Home");
    await turnsOf(screen).first().getByText("0:xxxxx").waitFor();
  });

  it("stays still under the eyes of who reads further up while an answer grows, and follows again when told to", async () => {
    const screen = await openLong(12);
    await screen.say(talk({ words: 400, paceMs: 10 }));
    await screen.untilShown("30:xxxxx");
    await expect.poll(() => pixelsToEnd(screen.conversation), PATIENCE).toBe(0);

    await screen.conversation.press("PageUp");
    const latest = screen.page.getByRole("button", { name: "Jump to latest" });
    await latest.waitFor();
    const before = await steadyPlace(turnsOf(screen).nth(10));
    await screen.untilShown("150:xxxx");
    expect(await steadyPlace(turnsOf(screen).nth(10))).toBe(before);

    await latest.click();
    await screen.untilShown("250:xxxx");
    await expect.poll(() => pixelsToEnd(screen.conversation), PATIENCE).toBe(0);
    await screen.untilShown("399:xxxx");
    await screen.untilDone();
    await expect.poll(() => pixelsToEnd(screen.conversation), PATIENCE).toBe(0);
  });
});

function wordsOf(turns: Locator): Promise<readonly number[]> {
  return turns.evaluateAll((all) => all.map((turn) => turn.textContent.match(/\d+:x/g)?.length ?? 0));
}

function pixelsToEnd(conversation: Locator): Promise<number> {
  return conversation.evaluate(({ scrollHeight, scrollTop, clientHeight }) =>
    Math.round(scrollHeight - scrollTop - clientHeight),
  );
}

/** Where it stands once the page has stopped to scroll: two frames give the same. */
function steadyPlace(element: Locator): Promise<number> {
  return element.evaluate(async (node) => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    for (let before = Number.NaN; ; ) {
      const { top } = node.getBoundingClientRect();
      if (top === before) return Math.round(top);
      before = top;
      await frame();
    }
  });
}
