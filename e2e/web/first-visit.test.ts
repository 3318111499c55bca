import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { hasChromium } from "../browser/chromium.js";
import { type Stage, startStage } from "./rig/start-stage.js";
import { PATIENCE, threadScreen } from "./rig/thread-screen.js";
import { watchGrowth } from "./rig/watch-growth.js";

let stage: Stage;

// Of all that `npm run e2e -- web` shows, what `npm test` shows too.
describe.runIf(hasChromium())("On a first visit", { timeout: 60_000 }, () => {
  beforeAll(async () => {
    stage = await startStage();
  }, 60_000);
  afterEach((test) => stage?.clear(test));
  afterAll(() => stage?.stop());

  it("somebody signs in, chats with the poet and sees the tokens come", async () => {
    const visitor = await stage.visitor({ isStranger: true });
    const page = await visitor.open("/");
    await page.getByLabel("Account").fill("newcomer");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("link", { name: "New thread with Poet" }).click();
    const screen = threadScreen(page);
    await screen.composer.waitFor();
    const growth = await watchGrowth(screen.conversation);
    await screen.say("Write about the last train home");
    await screen.untilDone();
    await screen.untilShown("the last train home");
    const lengths = await growth.lengths();
    const steps = lengths.filter((length, at) => length > (lengths[at - 1] ?? 0));
    // On a busy machine several tokens share a frame.
    expect(steps.length).toBeGreaterThan(4);
    expect(new URL(page.url()).pathname).toMatch(/^\/agents\/poet\/.+/);
    expect(visitor.complaints()).toEqual([]);
  });

  it("a trip is planned by pressing buttons: the recommended flight comes first, and then the hotels are asked for", async () => {
    const visitor = await stage.visitor();
    const page = await visitor.open("/agents/travel");
    const screen = threadScreen(page);
    await page.getByRole("button", { name: "Plan a trip from Amsterdam to San Francisco" }).click();
    const flights = screen.questions.getByRole("button", { name: /KLM|United/ });
    await flights.first().waitFor();
    expect(await flights.first().textContent()).toMatch(/KLM.*Recommended/s);
    expect(await flights.count()).toBe(2);
    await screen.questions.getByRole("button", { name: /United/ }).click();
    await screen.questions.getByRole("button", { name: /Hotel Zephyr/ }).click();
    await screen.untilShown(/Your trip is planned/);
    await screen.untilDone();
    expect(await screen.questions.count()).toBe(0);
    const said = (await screen.lines()).join("\n");
    expect(said).toContain("United");
    expect(said).toContain("Hotel Zephyr");
    expect(visitor.complaints()).toEqual([]);
  });

  it("a page that is reloaded in the middle of a token shows in the end what one shows that stayed", async () => {
    const visitor = await stage.visitor();
    const screen = threadScreen(await visitor.open("/agents/poet"));
    await screen.say("Write about rooftops");
    await screen.untilShown(/rooftops.*rooftops/);
    const witness = threadScreen(
      await (await stage.visitor({ account: visitor.account })).open(new URL(screen.page.url()).pathname),
    );
    await witness.untilShown(/rooftops.*rooftops/);
    await screen.page.reload();
    await witness.untilDone();
    await screen.untilDone();
    const seen = await witness.lines();
    await expect.poll(() => screen.lines(), PATIENCE).toEqual(seen);
  });
});
