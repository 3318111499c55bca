import { createAgentClient } from "@throughline/agent-client";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { hasChromium } from "../browser/chromium.js";
import { until } from "../client/shown.js";
import { talk } from "../server/graphs/talker.js";
import { runElsewhere } from "./rig/run-elsewhere.js";
import { type Stage, startStage } from "./rig/start-stage.js";
import { PATIENCE, type ThreadScreen, threadScreen } from "./rig/thread-screen.js";
import type { Visitor } from "./rig/visitor.js";

/** On a machine that does much else. Without a connection to be had, nothing would happen at all. */
const AT_ONCE_MS = 20_000;

/** Real ones: what a browser does to a tab in the background, no pretended clock does. */
const HIDDEN_MS = 180_000;

let stage: Stage;

describe.runIf(hasChromium())("Many tabs", () => {
  beforeAll(async () => {
    stage = await startStage({ graphs: new URL("./rig/stage-graphs.ts", import.meta.url) });
  });
  afterEach((test) => stage?.clear(test));
  afterAll(() => stage?.stop());

  async function openStreams(): Promise<number> {
    const text = await (await fetch(`${stage.service.url}/metrics`)).text();
    return Number(/^throughline_open_streams\S* (\d+)$/m.exec(text)?.[1]);
  }

  /** Tabs on threads of their own, each in front while it is opened. */
  async function openTabs(visitor: Visitor, agents: readonly string[]): Promise<ThreadScreen[]> {
    const screens: ThreadScreen[] = [];
    for (const [at, agent] of agents.entries()) {
      const screen = threadScreen(await visitor.open(`/agents/${agent}/tab-${at}`));
      await screen.untilLive();
      screens.push(screen);
    }
    return screens;
  }

  async function answerElsewhere(account: string, answers: readonly string[]): Promise<void> {
    const headers = () => ({ "x-throughline-account": account });
    const client = createAgentClient({ url: `${stage.service.url}/api/copilotkit`, headers });
    const thread = client.thread("langgraph:travel", "trip");
    thread.open();
    for (const answer of answers) {
      const { view } = await until(thread, (snapshot) => snapshot.view.interrupts.length > 0);
      await thread.answer(view.interrupts[0]?.id ?? "", answer);
    }
    client.close();
  }

  it("eight tabs on eight threads, two with inspector and runs: send, stop and answer work at once in each, on one stream", {
    timeout: 400_000,
  }, async () => {
    const visitor = await stage.visitorWithTabs();
    visitor.context.setDefaultTimeout(PATIENCE.timeout);
    const agents = ["talker", "travel", "talker", "talker", "travel", "talker", "talker", "talker"];
    const screens = await openTabs(visitor, agents);
    for (const { page } of screens.slice(0, 2)) {
      await page.bringToFront();
      // Open or not is kept for all tabs of a browser.
      const closed = page.getByRole("button", { name: "Open the inspector" });
      if (await closed.isVisible()) await closed.click();
      await page.getByRole("heading", { name: "Envelopes" }).waitFor();
    }
    const slow: string[] = [];
    const within = async (what: string, doing: () => Promise<unknown>) => {
      const began = performance.now();
      await doing();
      const ms = Math.round(performance.now() - began);
      if (ms > AT_ONCE_MS) slow.push(`${what}: ${ms} ms`);
    };
    for (const [at, screen] of screens.entries()) {
      await screen.page.bringToFront();
      if (agents[at] === "travel") {
        await within(`tab ${at} sends`, async () => {
          await screen.say("Plan my trip");
          await screen.questions.getByRole("button", { name: /KLM/ }).waitFor();
        });
        await within(`tab ${at} answers`, async () => {
          await screen.questions.getByRole("button", { name: /KLM/ }).click();
          await screen.questions.getByRole("button", { name: /Hotel Zephyr/ }).waitFor();
        });
      } else {
        await within(`tab ${at} sends`, async () => {
          await screen.say(talk({ words: 900, paceMs: 20 }));
          await screen.untilShown("3:xxxxxx");
        });
        await within(`tab ${at} stops`, async () => {
          await screen.stopButton.click();
          await screen.untilShown("Stopped.");
        });
      }
      if (at < 2) {
        const closed = screen.page.getByRole("button", { name: "Open the side panel" });
        if (await closed.isVisible()) await closed.click();
        await screen.page.getByRole("tab", { name: "Runs" }).click();
        await screen.page.getByRole("list", { name: /^Runs/ }).getByRole("button").first().waitFor();
      }
      await screen.page.getByText("Live", { exact: true }).first().waitFor();
    }
    expect(slow).toEqual([]);
    await expect.poll(openStreams, PATIENCE).toBe(1);
    // Behind all others, the first one's inspector has what happened in its thread meanwhile.
    await runElsewhere(stage, {
      account: visitor.account,
      agent: "talker",
      threadId: "tab-0",
      content: talk({ words: 3 }),
    });
    const [first] = screens;
    await first?.untilShown("2:xxxxxx");
    await expect.poll(openStreams, PATIENCE).toBe(1);
    expect(visitor.complaints()).toEqual([]);
  });

  it("a tab in the background, which led, keeps no other from being told: what happens elsewhere shows in both", async () => {
    const visitor = await stage.visitorWithTabs();
    const { account } = visitor;
    await runElsewhere(stage, { account, agent: "travel", threadId: "trip", content: "Plan my trip" });
    const [first, second] = await openTabs(visitor, ["talker", "talker"]);
    if (!first || !second) throw new Error("two tabs were opened");
    expect(await first.page.evaluate("document.visibilityState")).toBe("hidden");
    const waits = ({ page }: ThreadScreen) => page.getByText("Waiting for you").first();
    for (const screen of [first, second]) await waits(screen).waitFor();
    await answerElsewhere(account, ["KLM", "Hotel Zephyr"]);
    for (const screen of [second, first]) await waits(screen).waitFor({ state: "hidden" });
    await expect.poll(openStreams, PATIENCE).toBe(1);
  });

  it("the tab that was opened first is hidden for minutes: what happens elsewhere still shows in it and in the one in front", {
    timeout: 600_000,
  }, async () => {
    const visitor = await stage.visitorWithTabs();
    const { account } = visitor;
    await runElsewhere(stage, { account, agent: "travel", threadId: "trip", content: "Plan my trip" });
    const tabs = await openTabs(visitor, ["talker", "talker"]);
    const until = (state: "visible" | "hidden") =>
      Promise.all(
        tabs.map(({ page }) =>
          page
            .getByText("Waiting for you")
            .first()
            .waitFor({ state, ...PATIENCE }),
        ),
      );
    await until("visible");
    // The time itself is what is tested.
    await new Promise((resolve) => setTimeout(resolve, HIDDEN_MS));
    expect(await tabs[0]?.page.evaluate("document.visibilityState")).toBe("hidden");
    await answerElsewhere(account, ["KLM", "Hotel Zephyr"]);
    await until("hidden");
    for (const { page } of tabs) await page.getByText("Live", { exact: true }).first().waitFor();
    await expect.poll(openStreams, PATIENCE).toBe(1);
  });

  it.each(["closed", "crashed", "frozen"])(
    "the tab that leads is %s: the next one goes on exactly where it was",
    async (how) => {
      const visitor = await stage.visitorWithTabs();
      const [shown, leader] = await openTabs(visitor, ["talker", "talker"]);
      if (!shown || !leader) throw new Error("two tabs were opened");
      void runElsewhere(stage, {
        account: visitor.account,
        agent: "talker",
        threadId: "tab-0",
        content: talk({ words: 200, paceMs: 20 }),
      });
      await shown.untilShown("9:xxxxxx");
      const { page } = leader;
      if (how === "closed") await page.close();
      else if (how === "crashed") {
        await page.goto("chrome://crash").catch(() => {});
        await page.close();
      } else {
        await shown.page.bringToFront();
        const session = await visitor.context.newCDPSession(page);
        await session.send("Page.setWebLifecycleState", { state: "frozen" });
      }
      await shown.untilShown("199:xxxx");
      await shown.untilDone();
      const text = (await shown.conversation.textContent()) ?? "";
      const numbers = [...text.matchAll(/(\d+):x+/g)].map(([, number]) => Number(number));
      const answer = numbers.slice(-200);
      expect(answer).toEqual(Array.from({ length: 200 }, (_, number) => number));
      await expect.poll(openStreams, PATIENCE).toBe(1);
    },
  );
});

describe.runIf(hasChromium())("Two accounts in one browser", () => {
  beforeAll(async () => {
    stage = await startStage();
  });
  afterEach((test) => stage?.clear(test));
  afterAll(() => stage?.stop());

  /** Signs another account in by another tab of the same browser. */
  async function signInElsewhere(visitor: Visitor, account: string): Promise<void> {
    const headers = { origin: stage.url };
    const answer = await visitor.context.request.post("/api/session", { headers, data: { account } });
    expect(answer.ok()).toBe(true);
  }

  it("a page sends nothing as another account, says who is signed in now, and switches when asked to", async () => {
    const visitor = await stage.visitor({ account: "ada" });
    const hers = threadScreen(await visitor.open("/agents/poet/verses"));
    await hers.untilLive();
    const sent: string[] = [];
    // All but the sending waits, so that the sending is what finds out.
    await hers.page.route("**/api/**", (route) => {
      const request = route.request();
      const isSending = request.url().endsWith("/run") && !request.postData()?.includes('"poll"');
      if (!isSending) return;
      sent.push(request.url());
      return route.continue();
    });
    await signInElsewhere(visitor, "bob");
    await hers.say("Write about secrets");
    const dialog = hers.page.getByRole("dialog", { name: "You are signed in as bob now" });
    await dialog.waitFor();
    expect(sent).toHaveLength(1);
    const listed = await fetch(`${stage.service.url}/agents/poet/threads`, {
      headers: { "x-throughline-account": "bob" },
    });
    expect(await listed.text()).not.toContain("verses");
    await hers.page.unroute("**/api/**");
    await dialog.getByRole("button", { name: "Switch to bob" }).click();
    const his = threadScreen(hers.page);
    await his.untilLive();
    await his.page.getByRole("button", { name: /^Account bob/ }).waitFor();
    await his.say("Write about granite");
    await his.untilShown(/granite.*granite/);
  });

  it("a page that finds out while a person types keeps their words, and their Enter switches nothing", async () => {
    const visitor = await stage.visitor({ account: "ada" });
    const hers = threadScreen(await visitor.open("/agents/poet/verses"));
    await hers.untilLive();
    await hers.composer.pressSequentially("Write about secr");
    await signInElsewhere(visitor, "bob");
    const dialog = hers.page.getByRole("dialog", { name: "You are signed in as bob now" });
    // By itself: the page's next poll finds out.
    await dialog.waitFor();
    await hers.page.keyboard.type("ets");
    await hers.page.keyboard.press("Enter");
    await dialog.getByRole("button", { name: "Switch to bob" }).waitFor();
    await hers.page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    await expect.poll(() => hers.composer.inputValue(), PATIENCE).toBe("Write about secr");
  });
});
