import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { hasChromium } from "../browser/chromium.js";
import { type Asked, ask } from "./rig/asker.js";
import { type Stage, startStage } from "./rig/start-stage.js";
import { PATIENCE, type ThreadScreen, threadScreen } from "./rig/thread-screen.js";

let stage: Stage;

const WHERE = { message: "Where to?", options: ["Oslo", "Rome"], recommendation: "Rome" };
const WHO = {
  message: "Who comes along?",
  responseSchema: {
    type: "object",
    properties: {
      people: { type: "integer", minimum: 1, maximum: 9 },
      stars: { enum: [3, 4, 5] },
      names: { type: "array", items: { type: "string" } },
      isUrgent: { type: "boolean" },
    },
    required: ["people", "stars"],
  },
};
const WHY = { message: "Why?" };

describe.runIf(hasChromium())("Questions of an agent", () => {
  beforeAll(async () => {
    stage = await startStage({ graphs: new URL("./rig/asker-graphs.ts", import.meta.url) });
  });
  afterEach((test) => stage?.clear(test));
  afterAll(() => stage?.stop());

  const cards = ({ questions }: ThreadScreen) => questions.getByRole("article");
  const card = (screen: ThreadScreen, message: string) => cards(screen).filter({ hasText: message });
  const untilAsked = (screen: ThreadScreen, count: number) =>
    expect.poll(() => cards(screen).count(), PATIENCE).toBe(count);

  async function inTwoTabs(...questions: Asked): Promise<readonly [ThreadScreen, ThreadScreen]> {
    const visitor = await stage.visitor();
    const first = threadScreen(await visitor.open("/agents/asker"));
    await first.say(ask(...questions));
    await untilAsked(first, questions.length);
    const second = threadScreen(await visitor.open(new URL(first.page.url()).pathname));
    await untilAsked(second, questions.length);
    return [first, second];
  }

  it("asked at once are as many cards in every tab, and go together when all are answered", async () => {
    const [first, second] = await inTwoTabs(WHERE, WHO, WHY);
    const places = card(first, "Where to?").getByRole("button");
    expect(await places.allTextContents()).toEqual(["RomeRecommended", "Oslo"]);
    await places.filter({ hasText: "Oslo" }).click();
    await card(first, "Why?").getByRole("textbox").fill("To see the sea");
    await card(first, "Why?").getByRole("button", { name: "Answer" }).click();
    await first.questions.getByText("2 of 3 answered.").waitFor();

    const who = card(first, "Who comes along?");
    await who.getByRole("button", { name: "Answer" }).press("Enter");
    await who.getByText("This needs an answer.").first().waitFor();
    await expect
      .poll(() => who.getByLabel("People").evaluate((field) => field.matches(":focus")), PATIENCE)
      .toBe(true);
    await who.getByLabel("People").fill("12");
    await who.getByRole("button", { name: "Answer" }).click();
    await who.getByText("No more than 9.").waitFor();
    await who.getByLabel("People").fill("2");
    await who.getByLabel("Stars").selectOption("4");
    await who.getByLabel("Names").fill("Ada\nBob");
    await who.getByLabel("Is urgent").check();
    await who.getByRole("button", { name: "Answer" }).click();
    await first.questions.getByText("3 of 3 answered.").waitFor();
    // Nothing was sent yet: the other tab asks as before.
    expect(await cards(second).count()).toBe(3);
    await first.questions.getByRole("button", { name: "Send all answers" }).click();
    for (const screen of [first, second]) {
      await screen.questions.waitFor({ state: "detached" });
      await screen.untilShown('Where to? "Oslo"');
      await screen.untilShown('Why? "To see the sea"');
      await screen.untilShown(
        'Who comes along? {"people":2,"stars":4,"names":["Ada","Bob"],"isUrgent":true}',
      );
      await screen.untilDone();
    }
    await expect.poll(() => second.lines(), PATIENCE).toEqual(await first.lines());
  });

  it("may be answered one after the other, each in another tab", async () => {
    const [first, second] = await inTwoTabs(WHERE, WHY);
    await card(first, "Where to?").getByRole("button", { name: /Rome/ }).click();
    await first.questions.getByRole("button", { name: "Send this answer" }).press("Enter");
    for (const screen of [first, second]) await untilAsked(screen, 1);
    await card(second, "Why?").getByRole("textbox").fill("For the light");
    await card(second, "Why?").getByRole("button", { name: "Answer" }).click();
    for (const screen of [first, second]) {
      await screen.questions.waitFor({ state: "detached" });
      await screen.untilShown('Where to? "Rome"');
      await screen.untilShown('Why? "For the light"');
      await screen.untilDone();
    }
    await first.page.reload();
    await first.untilShown('Why? "For the light"');
    await expect.poll(() => first.lines(), PATIENCE).toEqual(await second.lines());
  });

  it("whose time is over say so, take no answer, and can be left behind with a message", async () => {
    const visitor = await stage.visitor();
    const screen = threadScreen(await visitor.open("/agents/asker"));
    const isOver = { ...WHERE, expiresAt: "2020-01-01T00:00:00Z" };
    await screen.say(ask(isOver));
    await screen.questions.getByText("The time to answer is over.").waitFor();
    expect(await screen.questions.getByRole("button", { name: /Rome/ }).isDisabled()).toBe(true);
    await screen.say(ask());
    await screen.page.getByRole("button", { name: "Set the question aside and send" }).click();
    await screen.questions.waitFor({ state: "detached" });
    await screen.untilDone();
  });
});
