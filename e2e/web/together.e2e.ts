import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { hasChromium } from "../browser/chromium.js";
import { talk } from "../server/graphs/talker.js";
import { type Stage, startStage } from "./rig/start-stage.js";
import { PATIENCE, threadScreen } from "./rig/thread-screen.js";
import { untilLoaded } from "./rig/until-loaded.js";

let stage: Stage;

describe.runIf(hasChromium())("Together", () => {
  beforeAll(async () => {
    stage = await startStage({ graphs: new URL("./rig/stage-graphs.ts", import.meta.url) });
  });
  afterEach((test) => stage?.clear(test));
  afterAll(() => stage?.stop());

  const pathOf = (page: Page) => new URL(page.url()).pathname;

  it("two tabs show the same, whichever of them was spoken in", async () => {
    const visitor = await stage.visitor();
    const first = threadScreen(await visitor.open("/agents/poet"));
    await first.say("Write about bridges");
    await first.untilDone();
    const second = threadScreen(await visitor.open(pathOf(first.page)));
    await second.untilShown("bridges");
    await second.say("Write about rivers");
    await first.untilShown("Write about rivers");
    await second.untilShown(/Write about rivers.*rivers/);
    for (const screen of [second, first]) await screen.untilDone();
    await first.say("Write about rain");
    await second.untilShown(/Write about rain.*rain/);
    for (const screen of [first, second]) await screen.untilDone();
    await expect.poll(() => second.lines(), PATIENCE).toEqual(await first.lines());
    expect((await first.lines()).filter((line) => line.startsWith("Write about"))).toHaveLength(3);
  });

  it("a question that is answered in one tab disappears from the other, and was there after a reload", async () => {
    const visitor = await stage.visitor();
    const first = threadScreen(await visitor.open("/agents/travel"));
    await first.say("Plan my trip");
    await first.questions.getByRole("button", { name: /KLM/ }).waitFor();
    const second = threadScreen(await visitor.open(pathOf(first.page)));
    await second.questions.getByRole("button", { name: /KLM/ }).waitFor();
    await first.page.reload();
    await first.questions.getByRole("button", { name: /KLM/ }).click();
    await second.questions.getByRole("button", { name: /KLM/ }).waitFor({ state: "detached" });
    await second.questions.getByRole("button", { name: /Hotel Zephyr/ }).click();
    for (const screen of [first, second]) {
      await screen.untilShown(/Your trip is planned/);
      await screen.questions.waitFor({ state: "detached" });
      await screen.untilDone();
    }
    await expect.poll(() => second.lines(), PATIENCE).toEqual(await first.lines());
  });

  it("two questions are answered together", async () => {
    const visitor = await stage.visitor();
    const screen = threadScreen(await visitor.open("/agents/pair"));
    await screen.say("Ask me both");
    const answers = screen.questions.getByRole("textbox");
    await expect.poll(() => answers.count(), PATIENCE).toBe(2);
    const send = screen.questions.getByRole("button", { name: "Send all answers" });
    expect(await send.isDisabled()).toBe(true);
    for (const [at, words] of ["oak", "brass"].entries()) {
      const card = screen.questions.getByRole("article").nth(at);
      await card.getByRole("textbox").fill(words);
      await card.getByRole("button", { name: "Answer", exact: true }).click();
    }
    await send.click();
    await screen.questions.waitFor({ state: "detached" });
    await screen.untilDone();
  });

  it("stop, pressed right after send, stops", async () => {
    const visitor = await stage.visitor();
    const screen = threadScreen(await visitor.open("/agents/talker"));
    await screen.untilLive();
    await screen.composer.fill(talk({ words: 600, paceMs: 20 }));
    // As soon as it can be seen, which no hand could.
    await screen.page.evaluate(async () => {
      const button = (name: string) =>
        [...document.querySelectorAll("button")].find(
          (one) => one.getAttribute("aria-label") === name || one.textContent === name,
        );
      button("Send")?.click();
      while (!button("Stop")) await new Promise(requestAnimationFrame);
      button("Stop")?.click();
    });
    // Whichever came first, the run or the stop: a run that was never begun has no end to show.
    await screen.untilShown(/Stopped\.|This was not sent\./);
    await screen.stopButton.waitFor({ state: "hidden" });
    expect(await screen.conversation.textContent()).not.toContain("599:");
    await screen.say(talk({ words: 3 }));
    await screen.untilShown("2:xxxxxx");
  });

  it("stop in the middle of an answer stops it in every tab, and all show the same", async () => {
    const visitor = await stage.visitor();
    const first = threadScreen(await visitor.open("/agents/talker"));
    await first.say(talk({ words: 900, paceMs: 20 }));
    await first.untilShown("9:xxxxxx");
    const second = threadScreen(await visitor.open(pathOf(first.page)));
    await second.untilShown("9:xxxxxx");
    await second.stopButton.click();
    for (const screen of [first, second]) {
      await screen.untilShown("Stopped.");
      await screen.stopButton.waitFor({ state: "hidden" });
    }
    await expect.poll(() => second.lines(), PATIENCE).toEqual(await first.lines());
    // The agent does not remember what it was cut short in, and the log does.
    expect(await first.conversation.textContent()).not.toContain("9:xxxxxx");
    await first.conversation.getByRole("button", { name: "See what it said" }).click();
    const again = first.page.getByRole("region", { name: "Replay of a run" });
    await again.filter({ hasText: "9:xxxxxx" }).waitFor();
  });
});

describe.runIf(hasChromium())("Two accounts", () => {
  beforeAll(async () => {
    stage = await startStage();
  });
  afterEach((test) => stage?.clear(test));
  afterAll(() => stage?.stop());

  it("see nothing of each other, also when one guesses the other's addresses", async () => {
    const secret = "the amber lighthouse";
    const ada = await stage.visitor();
    const hers = threadScreen(await ada.open("/agents/poet"));
    await hers.say(`Write about ${secret}`);
    await hers.untilDone();
    const cron = await ada.context.request.post("/api/throughline/crons", {
      headers: { origin: stage.url, "x-throughline-signed-in-as": ada.account },
      data: { agent: "langgraph:poet", schedule: "0 9 * * *", input: { message: secret } },
    });
    expect(cron.status()).toBe(201);
    const { id }: { id: string } = await cron.json();
    const path = new URL(hers.page.url()).pathname;
    const thread = path.split("/").at(-1) ?? "";

    const bob = await stage.visitor();
    const his = threadScreen(await bob.open(path));
    await his.untilLive();
    for (const address of ["/", "/crons", `/crons/${id}`, "/agents/poet", path]) {
      expect(await his.page.content(), address).not.toContain(secret);
      await his.page.goto(address);
      await untilLoaded(his.page);
    }
    expect(await his.page.content()).not.toContain(secret);
    const guesses = [
      "/agents/langgraph%3Apoet/threads",
      `/agents/langgraph%3Apoet/threads/${thread}`,
      `/agents/langgraph%3Apoet/threads/${thread}/events?follow=false`,
      `/agents/langgraph%3Apoet/threads/${thread}/runs`,
      `/agents/langgraph%3Apoet/threads/${thread}/history`,
      "/crons",
      `/crons/${id}`,
      `/crons/${id}/ticks`,
    ];
    for (const guess of guesses) {
      const answer = await bob.context.request.get(`/api/throughline${guess}`, {
        headers: {
          origin: stage.url,
          "x-throughline-signed-in-as": bob.account,
          "x-throughline-account": ada.account,
        },
      });
      expect(await answer.text(), guess).not.toContain(secret);
      const own = await ada.context.request.get(`/api/throughline${guess}`, {
        headers: { origin: stage.url, "x-throughline-signed-in-as": ada.account },
      });
      expect(own.status(), guess).toBe(200);
    }
    // What he does under her thread's name is a thread of his own.
    await his.page.goto(path);
    await his.say("Write about granite");
    await his.untilDone();
    await hers.say("Write about slate");
    await hers.untilShown(/slate.*slate/);
    await hers.untilDone();
    expect((await hers.lines()).join("\n")).not.toContain("granite");
    expect((await his.lines()).join("\n")).not.toContain(secret);
  });

  it("need to be signed in: whoever is not comes to the door, and after it to where they wanted", async () => {
    const stranger = await stage.visitor({ isStranger: true });
    const page = await stranger.open("/agents/poet/somewhere?x=1");
    await page.waitForURL("**/sign-in?to=*");
    for (const path of ["/api/throughline/agents", "/api/copilotkit/info"]) {
      const answer = await stranger.context.request.get(path, { headers: { origin: stage.url } });
      expect(answer.status(), path).toBe(401);
    }
    await page.getByLabel("Account").fill("somebody");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.waitForURL("**/agents/poet/somewhere?x=1");
    await page.getByRole("button", { name: /Account/ }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.waitForURL("**/sign-in");
    expect((await stranger.context.cookies()).filter(({ name }) => name === "throughline_session")).toEqual(
      [],
    );
  });
});
