import { randomUUID } from "node:crypto";
import { type AgentClientOptions, createAgentClient, type ThreadHandle } from "@throughline/agent-client";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Chromium, hasChromium, launchChromium } from "../browser/chromium.js";
import { startTcpProxy } from "../executor/tcp-proxy.js";
import { startDeadlyWorkshop } from "../server/graphs/start-deadly-workshop.js";
import { talk } from "../server/graphs/talker.js";
import { type RigPostgres, startPostgres } from "../server/rig/start-postgres.js";
import { type RigServer, startServer } from "../server/rig/start-server.js";
import { eachTrial } from "../server/rig/trials.js";
import { openTab } from "./page/open-tab.js";
import { type PageServer, servePage } from "./page/serve-page.js";
import { isOver, shownBy, until } from "./shown.js";
import { tokenFor } from "./token-for.js";

const DONE = expect.objectContaining({ kind: "done", status: "success" });

let postgres: RigPostgres;
let server: RigServer;
let chromium: Chromium;
let closing: (() => unknown)[] = [];

describe.runIf(hasChromium())("In a real browser", () => {
  beforeAll(async () => {
    postgres = await startPostgres();
    [server, chromium] = await Promise.all([
      startServer({
        databaseUrl: await postgres.createDatabase(),
        graphs: new URL("./graphs/page-graphs.ts", import.meta.url),
        leaseMs: 2_000,
        reapEveryMs: 200,
      }),
      launchChromium(),
    ]);
  });
  afterEach(async () => {
    for (const close of closing.reverse()) await close();
    closing = [];
  });
  afterAll(async () => {
    await chromium?.close();
    await server?.stop();
    await postgres?.stop();
  });

  async function pages(options: Partial<Parameters<typeof servePage>[0]> = {}): Promise<PageServer> {
    const served = await servePage({ target: () => server.url, ...options });
    closing.push(() => served.stop());
    return served;
  }

  /**
   * A browser of the test's own, whose clock it may set. Playwright's clock is that of a whole context: pages of the shared one
   * would have it, too, also in later tests.
   */
  async function browserWithClock(): Promise<Chromium> {
    const browser = await launchChromium();
    closing.push(() => browser.close());
    await browser.context.clock.install();
    return browser;
  }

  async function tabOf(served: PageServer, thread: ThreadName, { context } = chromium) {
    const tab = await openTab(context, served.pageUrl(thread));
    closing.push(() => tab.page.close());
    await tab.until(({ status }) => status !== undefined);
    return tab;
  }

  /** A client beside the browser, that shares with no tab and whose connection is never cut. */
  async function witnessOf(
    { agentId, threadId }: ThreadName,
    url = server.url,
    options: Partial<AgentClientOptions> = {},
  ): Promise<ThreadHandle> {
    const client = createAgentClient({ url: `${url}/api/copilotkit`, ...options });
    closing.push(() => client.close());
    const thread = client.thread(agentId, threadId);
    thread.open();
    await until(thread, ({ view }) => view.run !== null);
    return thread;
  }

  it("a page behind a proxy that cuts connections shows in the end what one shows that stayed", async () => {
    await eachTrial(3, async (random, index) => {
      const thread = aThread(index % 2 === 0 ? "talker" : "researcher");
      const proxy = await startTcpProxy(server.url, () => {
        let left = 300 + Math.floor(random() ** 2 * 8_000);
        return {
          onAnswer(bytes) {
            left -= bytes.length;
            return left > 0 ? "pass" : { cutAfter: Math.max(0, bytes.length + left) };
          },
        };
      });
      closing.push(() => proxy.stop());
      const witness = await witnessOf(thread);
      const tab = await tabOf(await pages({ target: () => proxy.url }), thread);
      const wish =
        thread.agentId === "langgraph:talker" ? talk({ words: 100, paceMs: 5 }) : "tides and the moon";
      expect(await tab.send(wish)).toEqual(DONE);
      await until(witness, isOver);
      await tab.toShow(() => shownBy(witness));
      expect(proxy.cuts).toBeGreaterThan(0);
    });
  });

  it("a page whose server is restarted in the middle of a run comes back by itself", async () => {
    const thread = aThread("talker");
    const tab = await tabOf(await pages(), thread);
    const outcome = tab.send(talk({ words: 150, paceMs: 20 }));
    await tab.until(({ streamed }) => streamed > 100);
    await server.stop();
    await server.restart();
    expect(await outcome).toEqual(DONE);
    const witness = await witnessOf(thread);
    await tab.toShow(() => shownBy(witness));
  });

  it("a page whose server is killed shows one run that was taken up, and its answer ends it", async () => {
    const { server: workshop, close } = await startDeadlyWorkshop(postgres, { tokenMs: 10, toolMs: 50 });
    closing.push(close);
    const thread = aThread("workshop");
    const tab = await tabOf(await pages({ target: () => workshop.url }), thread);
    const outcome = tab.send("A door, please; die at token");
    await tab.until(({ connection }) => connection !== "live");
    // It killed itself; this waits until it is gone.
    await workshop.kill();
    await workshop.restart();
    expect(await outcome).toMatchObject({ kind: "done", status: "interrupted" });
    const witness = await witnessOf(thread, workshop.url);
    await tab.toShow(() => shownBy(witness));
    expect(await tab.answer("brass")).toEqual(DONE);
    await until(witness, isOver);
    await tab.toShow(() => shownBy(witness));
  });

  it("two tabs hold one stream between them, and show the same, also after one is reloaded mid-token", async () => {
    const thread = aThread("talker");
    const served = await pages();
    const [first, second] = [await tabOf(served, thread), await tabOf(served, thread)];
    const witness = await witnessOf(thread);
    const outcome = second.send(talk({ words: 150, paceMs: 15 }));
    await first.until(({ streamed }) => streamed > 50);
    await second.until(({ streamed }) => streamed > 50);
    await expect.poll(() => served.openStreams()).toBe(1);
    await outcome;
    await until(witness, isOver);
    for (const tab of [first, second]) await tab.toShow(() => shownBy(witness));
    await expect.poll(() => served.openStreams()).toBe(1);
    void second.send(talk({ words: 150, paceMs: 15 })).catch(() => {});
    await first.until(({ streamed }) => streamed > 50);
    await second.page.reload();
    await until(witness, ({ view }) => view.messages.length === 4 && view.run?.status === "success");
    for (const tab of [first, second]) await tab.toShow(() => shownBy(witness));
    await expect.poll(() => served.openStreams()).toBe(1);
  });

  it("a tab whose leader is closed in the middle of a run goes on where that was", async () => {
    const thread = aThread("talker");
    const served = await pages();
    const [leader, heir] = [await tabOf(served, thread), await tabOf(served, thread)];
    const witness = await witnessOf(thread);
    const outcome = heir.send(talk({ words: 150, paceMs: 15 }));
    await heir.until(({ streamed }) => streamed > 50);
    await leader.page.close();
    expect(await outcome).toEqual(DONE);
    await expect.poll(() => served.openStreams()).toBe(1);
    await until(witness, isOver);
    await heir.toShow(() => shownBy(witness));
  });

  it("a tab whose leader is frozen takes the lead, and the frozen one shows the same when it thaws", async () => {
    const thread = aThread("talker");
    const served = await pages();
    const [leader, heir] = [await tabOf(served, thread), await tabOf(served, thread)];
    const witness = await witnessOf(thread);
    await leader.setFrozen(true);
    // Timers and requests of a frozen tab stand still; what other tabs say to it is heard all the same.
    expect(await heir.send(talk({ words: 20, paceMs: 2 }))).toEqual(DONE);
    await expect.poll(() => served.openStreams()).toBe(1);
    await leader.setFrozen(false);
    await until(witness, isOver);
    for (const tab of [leader, heir]) await tab.toShow(() => shownBy(witness));
    expect(await leader.send(talk({ words: 3 }))).toEqual(DONE);
    await until(witness, ({ view }) => view.messages.length === 4 && view.run?.status === "success");
    for (const tab of [leader, heir]) await tab.toShow(() => shownBy(witness));
  });

  it("a tab that is hidden for minutes, with a timer a minute, stays on its line and shows all of a run", async () => {
    const thread = aThread("talker");
    const served = await pages();
    const browser = await browserWithClock();
    const tab = await tabOf(served, thread, browser);
    const witness = await witnessOf(thread);
    await inFront(browser);
    await tab.page.clock.pauseAt(await tab.page.evaluate(() => Date.now() + 1_000));
    const outcome = witness.send(talk({ words: 500, paceMs: 10 }));
    await tab.until(({ streamed }) => streamed > 0);
    for (let minute = 0; minute < 6; minute += 1) {
      await tab.page.clock.fastForward(60_000);
      // Heard behind the minute, and not only before it: two without a word between them would be a dead line.
      const before = await tab.now();
      await tab.until(({ streamed }) => streamed > before.streamed);
    }
    expect(await tab.page.evaluate("document.visibilityState")).toBe("hidden");
    expect(await outcome).toEqual(DONE);
    await tab.toShow(() => shownBy(witness));
    expect(served.connects()).toBe(1);
  });

  it("of two syncs in one tick on a busy thread the later is the one that is applied, 200 times, from either tab", {
    timeout: 900_000,
  }, async () => {
    const thread = aThread("sentinel");
    const served = await pages();
    const tabs = [await tabOf(served, thread), await tabOf(served, thread)];
    const witness = await witnessOf(thread);
    expect(await witness.command("hire")).toEqual(DONE);
    const stateOf = (round: number, name: string) => ({
      settings: { watch: [`${name} ${round}`], durationMs: 0 },
    });
    await eachTrial(200, async (_, round) => {
      const tab = tabs[round % tabs.length];
      if (!tab) throw new Error("two tabs were opened");
      await tab.page.evaluate(([first, second]) => globalThis.tab.syncTwiceAtNextRun(first, second), [
        stateOf(round, "earlier"),
        stateOf(round, "later"),
      ] as const);
      const cycle = witness.command("cycle", { durationMs: 150 });
      const [earlier, later] = await tab.page.evaluate(() => globalThis.tab.synced());
      expect([round, later.kind]).toEqual([round, "confirmed"]);
      const by = later.kind === "confirmed" ? later.runId : "";
      expect(earlier).toEqual({ kind: "superseded", by });
      expect(await cycle).toEqual(DONE);
      const { view } = await until(
        witness,
        (snapshot) => isOver(snapshot) && snapshot.view.state.lastAppliedClientMutationId === by,
      );
      expect(view.state).toMatchObject(stateOf(round, "later"));
    });
  });

  it("a page of a machine that slept looks at its line when it wakes, and shows what happened meanwhile", async () => {
    const thread = aThread("talker");
    const served = await pages();
    const tab = await tabOf(served, thread, await browserWithClock());
    const witness = await witnessOf(thread);
    await tab.page.clock.pauseAt(await tab.page.evaluate(() => Date.now() + 1_000));
    served.mute();
    expect(await witness.send(talk({ words: 5 }))).toEqual(DONE);
    await tab.page.clock.fastForward(3_600_000);
    expect((await tab.now()).messages).toBe(0);
    await tab.page.clock.resume();
    await tab.until(({ messages }) => messages === 2);
    await tab.toShow(() => shownBy(witness));
    expect(served.connects()).toBe(2);
  });

  it("a page that was offline in the middle of a run has missed nothing when it is online again", async () => {
    const thread = aThread("talker");
    const served = await pages();
    const browser = await browserWithClock();
    const tab = await tabOf(served, thread, browser);
    const witness = await witnessOf(thread);
    const outcome = witness.send(talk({ words: 150, paceMs: 15 }));
    await tab.until(({ streamed }) => streamed > 50);
    await browser.context.setOffline(true);
    // Chromium pretends to new requests only; the line that is open dies with the network.
    served.mute();
    await tab.page.clock.runFor(20_000);
    await tab.until(({ connection }) => connection === "reconnecting");
    await until(witness, isOver);
    expect(await tab.now()).toMatchObject({ connection: "reconnecting", status: "running" });
    await browser.context.setOffline(false);
    expect(await outcome).toEqual(DONE);
    await tab.toShow(() => shownBy(witness));
  });

  it("a page whose token ends again and again asks for another, and goes on where it was", async () => {
    const secret = randomUUID() + randomUUID();
    const guarded = await startServer({
      databaseUrl: await postgres.createDatabase(),
      graphs: new URL("./graphs/page-graphs.ts", import.meta.url),
      env: { THROUGHLINE_JWT_SECRET: secret },
    });
    closing.push(() => guarded.stop());
    let given = 0;
    const served = await pages({
      target: () => guarded.url,
      token() {
        given += 1;
        return tokenFor(secret, 3);
      },
    });
    const thread = aThread("talker");
    const tab = await openTab(chromium.context, served.pageUrl({ ...thread, isSignedIn: true }));
    closing.push(() => tab.page.close());
    expect(await tab.send(talk({ words: 150, paceMs: 60 }))).toEqual(DONE);
    expect(given).toBeGreaterThan(2);
    const authorization = `Bearer ${await tokenFor(secret, 60)}`;
    const witness = await witnessOf(thread, guarded.url, { headers: () => ({ authorization }) });
    await tab.toShow(() => shownBy(witness));
  });

  /** An empty tab in front of all others, which are hidden then. */
  async function inFront({ context }: Chromium): Promise<void> {
    const page = await context.newPage();
    closing.push(() => page.close());
    await page.bringToFront();
  }
});

interface ThreadName {
  readonly agentId: string;
  readonly threadId: string;
}

function aThread(graph: string): ThreadName {
  return { agentId: `langgraph:${graph}`, threadId: randomUUID() };
}
