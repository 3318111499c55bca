import { createHmac, randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Stage, startStage } from "./rig/start-stage.js";
import { threadScreen } from "./rig/thread-screen.js";

const SECRET = "a secret of thirty-two characters";
let stage: Stage;

function tokenOf(account: string, subject: string, role: string): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const exp = Math.floor(Date.now() / 1_000) + 3_600;
  const claims = { billing_account_id: account, sub: subject, throughline_role: role, exp };
  const signed = `${part({ alg: "HS256", typ: "JWT" })}.${part(claims)}`;
  return `${signed}.${createHmac("sha256", SECRET).update(signed).digest("base64url")}`;
}

describe("People of one account", { timeout: 120_000 }, () => {
  beforeAll(async () => {
    stage = await startStage({ signIn: "token", env: { THROUGHLINE_JWT_SECRET: SECRET } });
  }, 60_000);
  afterEach((test) => stage?.clear(test));
  afterAll(() => stage?.stop());

  it("share a thread, and a viewer reads it and is told what they may not do", async () => {
    const account = `team-${randomUUID()}`;
    const person = (subject: string, role: string) =>
      stage.visitor({ token: tokenOf(account, subject, role) });
    const ann = await person("ann", "operator");
    const page = await ann.open("/agents/poet/plan");
    const hers = threadScreen(page);
    await hers.say("Write about the last train home");
    await hers.untilDone();

    const vic = await person("vic", "viewer");
    const seen = await vic.open("/agents/poet");
    await seen.getByText("No threads yet.").waitFor();

    await page.getByRole("button", { name: "Private" }).click();
    await page.getByRole("button", { name: "Share", exact: true }).click();
    await page.waitForURL("**/agents/poet/shared/plan");
    await page.getByRole("button", { name: "Shared" }).waitFor();
    await hers.untilShown("the last train home");

    await seen.getByRole("link", { name: /shared with the account/ }).click();
    const theirs = threadScreen(seen);
    await theirs.untilShown("the last train home");
    await seen.getByText("You can read this thread. The role viewer may not start runs.").waitFor();
    expect(await theirs.composer.count()).toBe(0);
    for (const name of [
      "Regenerate: The role viewer may not start runs.",
      "Good answer: The role viewer may not give feedback on answers.",
    ]) {
      expect(await theirs.conversation.getByRole("button", { name }).first().isDisabled()).toBe(true);
    }
    expect(await seen.getByRole("button", { name: /^Shared/ }).getAttribute("title")).toBe(
      "The role viewer may not share threads with the account or make them private.",
    );

    const bob = await person("bob", "operator");
    const his = threadScreen(await bob.open("/agents/poet/shared/plan"));
    await his.untilShown("the last train home");
    await his.say("Rain on a tin roof");
    await theirs.untilShown("Rain on a tin roof");
    await his.untilDone();
    await seen
      .getByRole("button", { name: /^Actions for/ })
      .first()
      .click();
    const deletion = seen.getByRole("menuitem", { name: /Delete/ }).first();
    expect(await deletion.getAttribute("aria-disabled")).toBe("true");
    expect(await deletion.textContent()).toContain("The role viewer may not delete threads.");
    await seen.goto(new URL("/crons", stage.url).href);
    expect(await seen.getByRole("button", { name: "New cron" }).first().isDisabled()).toBe(true);
    for (const visitor of [ann, bob, vic]) expect(visitor.complaints()).toEqual([]);
  });

  it("find a shared question in the inbox, where who may not answer reads why, and a private one is its person's", async () => {
    const account = `team-${randomUUID()}`;
    const person = (subject: string, role: string) =>
      stage.visitor({ token: tokenOf(account, subject, role) });
    const ann = await person("ann", "operator");
    const page = await ann.open("/agents/travel/trip");
    const hers = threadScreen(page);
    await hers.say("Plan my trip");
    await hers.questions.waitFor();

    const vic = await person("vic", "viewer");
    const seen = await vic.open("/inbox");
    await seen.getByText("Nothing waits for you").waitFor();
    await page.getByRole("button", { name: "Private" }).click();
    await page.getByRole("button", { name: "Share", exact: true }).click();
    await page.waitForURL("**/agents/travel/shared/trip");

    await seen.getByText(/^The role viewer may not answer/).waitFor();
    expect(await seen.getByRole("button", { name: /KLM/ }).isDisabled()).toBe(true);
    const pat = await person("pat", "approver");
    const answered = await pat.open("/inbox");
    await answered.getByRole("button", { name: /KLM/ }).click();
    await answered.getByRole("button", { name: /Zephyr/ }).waitFor();
    await hers.untilShown("pat chose KLM");
    await seen.getByRole("button", { name: /Zephyr/ }).waitFor();

    await hers.questions.getByRole("button", { name: /Zephyr/ }).click();
    await hers.untilShown("You chose Hotel Zephyr");
    const theirs = threadScreen(await vic.open("/agents/travel/shared/trip"));
    await theirs.untilShown("pat chose KLM");
    await theirs.untilShown("ann chose Hotel Zephyr");
    const his = threadScreen(await pat.open("/agents/travel/shared/trip"));
    await his.untilShown("You chose KLM");
    await his.untilShown("ann chose Hotel Zephyr");
    await page.reload();
    await hers.untilShown("pat chose KLM");
    await hers.untilShown("You chose Hotel Zephyr");
  });
});
