import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { hasChromium } from "../browser/chromium.js";
import { startTcpProxy } from "../executor/tcp-proxy.js";
import { talk } from "../server/graphs/talker.js";
import { type Stage, startStage } from "./rig/start-stage.js";
import { PATIENCE, type ThreadScreen, threadScreen } from "./rig/thread-screen.js";

const WORDS = 120;
const LONG = talk({ words: WORDS, paceMs: 25 });
const EVERY_WORD = Array.from({ length: WORDS }, (_, index) => `${index}:`);

let stage: Stage;

describe.runIf(hasChromium())("A page recovers by itself", () => {
  beforeAll(async () => {
    stage = await startStage({ graphs: new URL("./rig/stage-graphs.ts", import.meta.url) });
  });
  afterEach((test) => stage?.clear(test));
  afterAll(() => stage?.stop());

  /** A page in the middle of an answer, and a page at another machine that sees all of it. */
  async function midAnswer(url = stage.url) {
    const visitor = await stage.visitor({ url });
    const screen = threadScreen(await visitor.open("/agents/talker"));
    await screen.say(talk({ words: 1 }));
    await screen.untilDone();
    const other = await stage.visitor({ account: visitor.account });
    const witness = threadScreen(await other.open(new URL(screen.page.url()).pathname));
    await witness.untilLive();
    await screen.say(LONG);
    for (const page of [screen, witness]) await page.untilShown("9:xxxxxx");
    return { visitor, screen, witness };
  }

  it("after a reload in the middle of a token", async () => {
    const { screen, witness } = await midAnswer();
    await screen.page.reload();
    await expectSame(screen, witness);
  });

  it("with a page of ours while the console's server is away", async () => {
    let isAway = false;
    const network = await startTcpProxy(stage.url, () => ({
      onRequest: () => (isAway ? "cut" : "pass"),
      onAnswer: () => "pass",
    }));
    try {
      const visitor = await stage.visitor({ url: network.url });
      const page = await visitor.open("/");
      await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
      isAway = true;
      await page.reload();
      await page.getByRole("heading", { name: "The console can't be reached" }).waitFor();
      isAway = false;
      await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
      await visitor.leave();
    } finally {
      await network.stop();
    }
  });

  it("after its network was away in the middle of an answer", async () => {
    let isAway = false;
    const network = await startTcpProxy(stage.url, () => ({
      onRequest: () => (isAway ? "cut" : "pass"),
      onAnswer: () => (isAway ? { cutAfter: 0 } : "pass"),
    }));
    try {
      const { visitor, screen, witness } = await midAnswer(network.url);
      isAway = true;
      // Of this Chromium tells the page; what is open it does not cut.
      await visitor.context.setOffline(true);
      await untilLost(screen);
      await witness.untilShown("60:xxxxx");
      isAway = false;
      await visitor.context.setOffline(false);
      await screen.untilLive();
      await expectSame(screen, witness);
      await visitor.leave();
    } finally {
      await network.stop();
    }
  });

  it("after the service was killed in the middle of an answer: the run is taken up, and no word is there twice", async () => {
    const { visitor, screen, witness } = await midAnswer();
    await stage.service.kill();
    await untilLost(screen);
    await stage.service.restart();
    await expectSame(screen, witness);
    const late = await stage.visitor({ account: visitor.account });
    const latecomer = threadScreen(await late.open(new URL(screen.page.url()).pathname));
    await latecomer.untilShown(`${WORDS - 1}:`);
    await expect.poll(() => latecomer.lines(), PATIENCE).toEqual(await screen.lines());
  });

  it("after the service was stopped and started while nothing ran", async () => {
    const visitor = await stage.visitor();
    const screen = threadScreen(await visitor.open("/agents/talker"));
    await screen.say(talk({ words: 3 }));
    await screen.untilDone();
    await stage.service.stop();
    await untilLost(screen);
    await stage.service.restart();
    await screen.untilLive();
    await screen.say(talk({ words: 4 }));
    await screen.untilShown("3:xxxxxx");
    await screen.untilDone();
  });
});

function untilLost({ page }: ThreadScreen): Promise<void> {
  return page
    .getByText(/^(Offline|Reconnecting)/)
    .first()
    .waitFor();
}

async function expectSame(screen: ThreadScreen, witness: ThreadScreen): Promise<void> {
  for (const page of [screen, witness]) {
    await page.untilShown(`${WORDS - 1}:`);
    await page.untilDone();
  }
  await expect.poll(() => screen.lines(), PATIENCE).toEqual(await witness.lines());
  const said = (await screen.lines()).join(" ").match(/\b\d+:/g) ?? [];
  // One word of the first answer, and each of the long one, once.
  expect(said).toEqual(["0:", ...EVERY_WORD]);
}
