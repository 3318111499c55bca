import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { hasChromium } from "../browser/chromium.js";
import type { AnsweredRow } from "./every-question/answered-row.js";
import { APPROVAL_ROWS } from "./every-question/approval-rows.js";
import { BREAKPOINT_ROWS } from "./every-question/breakpoint-rows.js";
import { ELICITATION_ROWS } from "./every-question/elicitation-rows.js";
import { FORM_ROWS } from "./every-question/form-rows.js";
import { act } from "./every-question/hands.js";
import { REPLY_ROWS } from "./every-question/reply-rows.js";
import { graveFaults } from "./rig/grave-faults.js";
import { type Stage, startStage } from "./rig/start-stage.js";
import { PATIENCE, threadScreen } from "./rig/thread-screen.js";
import type { Visitor } from "./rig/visitor.js";

const PHONE = { width: 360, height: 740 };
let stage: Stage;

describe.runIf(hasChromium())("Every shape of question", () => {
  beforeAll(async () => {
    stage = await startStage({
      graphs: new URL("./every-question/row-graphs.ts", import.meta.url),
      env: { THROUGHLINE_OFFLINE_PACE_MS: "0" },
    });
  });
  afterEach((test) => stage?.clear(test));
  afterAll(() => stage?.stop());

  /** What the page sends to make the agent run. */
  function runsAskedBy(page: Page): () => number {
    let count = 0;
    page.on("request", (request) => {
      if (request.method() === "POST" && /\/run\b/.test(request.url())) count += 1;
    });
    return () => count;
  }

  async function widthOnPhone(page: Page): Promise<number> {
    const desktop = page.viewportSize() ?? PHONE;
    await page.setViewportSize(PHONE);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    await page.setViewportSize(desktop);
    return width;
  }

  async function see(page: Page, { words, controls }: AnsweredRow): Promise<void> {
    const main = page.getByRole("main");
    for (const text of words) await main.filter({ hasText: text }).waitFor();
    for (const [role, name] of controls) await main.getByRole(role, { name, exact: true }).first().waitFor();
  }

  it.each([...APPROVAL_ROWS, ...ELICITATION_ROWS, ...FORM_ROWS, ...REPLY_ROWS, ...BREAKPOINT_ROWS])(
    "is shown and answered by $hands: row $row, $agent",
    async (row) => {
      const visitor = await stage.visitor();
      const screen = threadScreen(await visitor.open(`/agents/${row.agent}`));
      const { page } = screen;
      const main = page.getByRole("main");
      await screen.say(row.say ?? "Go");
      await see(page, row);
      expect(await graveFaults(page)).toEqual([]);
      expect(await widthOnPhone(page)).toBeLessThanOrEqual(PHONE.width);
      const asked = runsAskedBy(page);
      for (const step of row.wrong?.steps ?? []) await act(row.hands, main, step);
      for (const text of row.wrong?.words ?? [])
        await main.getByRole("alert").filter({ hasText: text }).first().waitFor();
      expect(asked()).toBe(0);
      for (const step of row.steps) await act(row.hands, main, step);
      await screen.untilShown(row.said);
      await screen.untilDone();
      expect(asked()).toBe(1);
      await expect.poll(() => givenTo(row, page, visitor), PATIENCE).toEqual(row.given);
      await page.reload();
      await screen.untilShown(row.said);
      expect(visitor.complaints()).toEqual([]);
    },
  );

  it("a state that is edited in one tab is the same in the other, and in the inbox", async () => {
    const visitor = await stage.visitor();
    const first = threadScreen(await visitor.open("/agents/letter"));
    await first.say("Go");
    await first.questions.getByRole("button", { name: "Edit state" }).waitFor();
    const second = threadScreen(await visitor.open(new URL(first.page.url()).pathname));
    await second.questions.getByRole("button", { name: "Edit state" }).click();
    await second.page.getByLabel("Text", { exact: true }).fill("Dear nobody");
    await first.questions.getByRole("button", { name: "Edit state" }).click();
    await first.page.getByLabel("Text", { exact: true }).fill("Dear both");
    await first.questions.getByRole("button", { name: "Save", exact: true }).click();
    await first.untilShown("You edited the state");
    await second.untilShown("Another tab edited the state");
    await second.questions.getByRole("button", { name: "Start over with the new state" }).click();
    expect(await second.page.getByLabel("Text", { exact: true }).inputValue()).toBe("Dear both");
    const inbox = await visitor.open("/inbox");
    await inbox.getByRole("button", { name: "Edit state" }).click();
    expect(await inbox.getByLabel("Text", { exact: true }).inputValue()).toBe("Dear both");
    await inbox.getByLabel("Text", { exact: true }).fill("Dear all three");
    await inbox.getByRole("button", { name: "Save and continue" }).click();
    for (const screen of [first, second]) {
      await screen.untilShown('{"text":"Dear all three","copies":1,"to":["ann"]}');
      await screen.untilDone();
    }
    expect(visitor.complaints()).toEqual([]);
  });

  /** What the graph says it was given; of the agent that only tells what became of it, what the log says. */
  async function givenTo({ agent }: AnsweredRow, page: Page, { account }: Visitor): Promise<unknown> {
    if (agent !== "approver") return JSON.parse((await page.locator("code").last().textContent()) ?? "");
    const name = new URL(page.url()).pathname.split("/").at(-1);
    const log = await fetch(`${stage.service.url}/agents/${agent}/threads/${name}/events?follow=0`, {
      headers: { "x-throughline-account": account },
    });
    const starts = (await log.text()).matchAll(/^data: *(.*"type":"run_start".*)$/gm);
    const entry = JSON.parse([...starts].at(-1)?.[1] ?? "{}") as { payload?: { given?: object } };
    return Object.values(entry.payload?.given ?? {})[0];
  }
});
