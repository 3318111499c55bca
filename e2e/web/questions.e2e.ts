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
    await card(first, "Why?").getByRole("button", { name: "Answer", exact: true }).click();
    await first.questions.getByText("2 of 3 answered.").waitFor();

    const who = card(first, "Who comes along?");
    await who.getByRole("button", { name: "Answer", exact: true }).press("Enter");
    await who.getByText("This needs an answer.").first().waitFor();
    await expect
      .poll(() => who.getByLabel("People").evaluate((field) => field.matches(":focus")), PATIENCE)
      .toBe(true);
    await who.getByLabel("People").fill("12");
    await who.getByRole("button", { name: "Answer", exact: true }).click();
    await who.getByText("No more than 9.").waitFor();
    await who.getByLabel("People").fill("2");
    await who.getByLabel("Stars").selectOption("4");
    await who.getByLabel("Names").fill("Ada\nBob");
    await who.getByLabel("Is urgent").check();
    await who.getByRole("button", { name: "Answer", exact: true }).click();
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
    await card(second, "Why?").getByRole("button", { name: "Answer", exact: true }).click();
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

  const CALLS = {
    message: "Go ahead?",
    action_requests: [
      { name: "send_mail", args: { to: "ann@example.com", copies: 1 } },
      { name: "book", args: { seats: 2 } },
    ],
    review_configs: [
      { action_name: "send_mail", allowed_decisions: ["approve", "edit", "reject"] },
      { action_name: "book", allowed_decisions: ["approve", "reject"] },
    ],
  };

  it("about calls are decided by key, row by row, and what is half decided outlives a reload and shows in other tabs", async () => {
    const [first, second] = await inTwoTabs(CALLS);
    const row = (screen: ThreadScreen, name: string) => screen.questions.getByRole("group", { name });
    const pressed = (screen: ThreadScreen, name: string, verb: string) =>
      row(screen, name).getByRole("button", { name: verb, pressed: true });
    await row(first, "book").press("r");
    await row(first, "book").getByLabel("Reason").fill("Too early");
    await pressed(second, "book", "Reject").waitFor();
    await first.page.reload();
    await pressed(first, "book", "Reject").waitFor();
    expect(await row(first, "book").getByLabel("Reason").inputValue()).toBe("Too early");
    await row(first, "send_mail").press("e");
    await row(first, "send_mail").getByLabel("Copies").fill("many");
    expect(await first.questions.getByRole("button", { name: "Send decisions" }).isDisabled()).toBe(true);
    await row(first, "send_mail").getByLabel("Copies").fill("3");
    await row(first, "send_mail").getByRole("deletion").filter({ hasText: "1" }).waitFor();
    await row(first, "send_mail").getByLabel("Copies").press("ControlOrMeta+Enter");
    const args = '{"to":"ann@example.com","copies":3}';
    for (const screen of [first, second]) {
      await screen.questions.waitFor({ state: "detached" });
      await screen.untilShown(`"edited_action":{"name":"send_mail","args":${args}}`);
      await screen.untilShown('{"type":"reject","message":"Too early"}');
      await screen.untilShown("You edited send_mail, rejected book");
    }
  });

  it("can be answered as JSON, and what the agent could not take is explained before it is sent", async () => {
    const visitor = await stage.visitor();
    const screen = threadScreen(await visitor.open("/agents/asker"));
    await screen.say(ask(CALLS));
    await screen.questions.getByText("Raw question").click();
    await screen.questions.getByText("action_requests").waitFor();
    const field = screen.questions.getByLabel("Your answer as JSON");
    await field.fill('{"decisions":[{"type":"approve"}]}');
    await screen.questions.getByRole("button", { name: "Answer", exact: true }).click();
    await screen.questions.getByRole("alert").filter({ hasText: /\S/ }).waitFor();
    await screen.questions.getByRole("button", { name: "Approve all" }).click();
    await screen.questions.waitFor({ state: "detached" });
    await screen.untilShown("You approved send_mail, approved book");
    expect(visitor.complaints()).toEqual([]);
  });

  it("take a message that was written instead of an answer as the answer, where somebody wants that", async () => {
    const visitor = await stage.visitor();
    const screen = threadScreen(await visitor.open("/agents/asker"));
    await screen.say(ask(WHERE));
    await untilAsked(screen, 1);
    await screen.say("rome");
    await screen.page.getByRole("button", { name: "Send it as the answer" }).click();
    await screen.untilShown('Where to? "Rome"');
    await screen.untilShown("You chose Rome");
    await screen.page.reload();
    await screen.untilShown("You chose Rome");
  });
});
