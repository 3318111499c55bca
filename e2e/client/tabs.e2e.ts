import { randomUUID } from "node:crypto";
import {
  type AgentClientOptions,
  allFeatures,
  type ChannelPort,
  createAgentClient,
  createMemoryChannels,
  createMemoryLocks,
  createMemoryStorage,
  type FrontendTool,
  type LockPort,
} from "@throughline/agent-client";
import { type Clock, systemClock } from "@throughline/ai-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { talk } from "../server/graphs/talker.js";
import { type RigPostgres, startPostgres } from "../server/rig/start-postgres.js";
import { type RigServer, startServer } from "../server/rig/start-server.js";
import { isOver, shownBy, streamedLength, until } from "./shown.js";

let postgres: RigPostgres;
let server: RigServer;
let closing: (() => void)[] = [];
beforeAll(async () => {
  postgres = await startPostgres();
  server = await startServer({
    databaseUrl: await postgres.createDatabase(),
    graphs: new URL("./graphs/page-graphs.ts", import.meta.url),
  });
});
afterEach(() => {
  for (const close of closing) close();
  closing = [];
});
afterAll(async () => {
  await server?.stop();
  await postgres?.stop();
});

/** A tab that shares with no other. */
const alone = () => undefined;

/** One browser: its tabs share locks, channels and storage. Each counts the streams it opened. */
function browser() {
  const shared = {
    locks: createMemoryLocks(),
    channels: createMemoryChannels(),
    storage: createMemoryStorage(),
  };
  return {
    ...shared,
    tab(options: Partial<AgentClientOptions> = {}) {
      const asked: string[] = [];
      const client = createAgentClient({
        url: `${server.url}/api/copilotkit`,
        ...allFeatures,
        connectionPolicy: { firstRetryMs: 50, maxRetryMs: 400 },
        ...shared,
        fetch(input, init) {
          asked.push(String(input).split("/").at(-1) ?? "");
          return fetch(input, init);
        },
        ...options,
      });
      closing.push(() => client.close());
      return { client, connects: () => asked.filter((verb) => verb === "follow").length };
    },
  };
}

function opened({ client }: ReturnType<ReturnType<typeof browser>["tab"]>, agent: string, threadId: string) {
  const thread = client.thread(`langgraph:${agent}`, threadId);
  thread.open();
  return thread;
}

/** Of a browser of its own, that shares with no tab. */
async function stranger(agent: string, threadId: string) {
  const thread = opened(browser().tab({ tabs: alone }), agent, threadId);
  await until(thread, ({ view }) => view.run !== null);
  return thread;
}

describe("Two tabs", () => {
  it("hold one stream between them, and show what a client shows that shares with nobody", async () => {
    const { tab } = browser();
    const tabs = [tab(), tab()];
    const threadId = randomUUID();
    const [first, second] = tabs.map((one) => opened(one, "talker", threadId));
    if (!first || !second) throw new Error("no tabs");
    const witness = await stranger("talker", threadId);
    await until(second, ({ view }) => view.run !== null);
    expect(await second.send(talk({ words: 60, paceMs: 5 }))).toMatchObject({
      kind: "done",
      status: "success",
    });
    await Promise.all([first, second, witness].map((thread) => until(thread, isOver)));
    await expect.poll(() => shownBy(first)).toEqual(shownBy(witness));
    await expect.poll(() => shownBy(second)).toEqual(shownBy(witness));
    expect(tabs.reduce((sum, one) => sum + one.connects(), 0)).toBe(1);
  });
});

describe("A leader", () => {
  it("that is closed in the middle of a run is followed by the other tab, which misses nothing", async () => {
    const { tab } = browser();
    const leader = tab();
    const threadId = randomUUID();
    opened(leader, "talker", threadId);
    const heir = tab();
    const thread = opened(heir, "talker", threadId);
    const outcome = thread.send(talk({ words: 120, paceMs: 15 }));
    await until(thread, (snapshot) => streamedLength(snapshot) > 100);
    expect(heir.connects()).toBe(0);
    leader.client.close();
    expect(await outcome).toMatchObject({ kind: "done", status: "success" });
    expect(heir.connects()).toBe(1);
    expect(shownBy(thread)).toEqual(shownBy(await stranger("talker", threadId)));
  });

  it("that is frozen loses the lead, and shows the same when it wakes", async () => {
    const { tab, channels, locks } = browser();
    const ice = freezer(channels, locks);
    const frozen = tab(ice.options);
    const threadId = randomUUID();
    const asleep = opened(frozen, "talker", threadId);
    await until(asleep, ({ view }) => view.run !== null);
    const heir = tab();
    const thread = opened(heir, "talker", threadId);
    await until(thread, ({ view }) => view.run !== null);
    ice.freeze();
    // Asked of a leader that does not hear it, this waits until another leads.
    expect(await thread.send(talk({ words: 20, paceMs: 2 }))).toMatchObject({
      kind: "done",
      status: "success",
    });
    expect(heir.connects()).toBe(1);
    ice.wake();
    await expect.poll(() => shownBy(asleep)).toEqual(shownBy(thread));
    expect(await asleep.send(talk({ words: 3 }))).toMatchObject({ kind: "done", status: "success" });
    await expect.poll(() => shownBy(asleep)).toEqual(shownBy(thread));
    expect(shownBy(thread)).toEqual(shownBy(await stranger("talker", threadId)));
  });
});

describe("A page that is left", () => {
  it("with a sync that waits behind a run has it applied once after a reload", async () => {
    const { tab } = browser();
    const threadId = randomUUID();
    const before = tab();
    const left = opened(before, "sentinel", threadId);
    expect(await left.command("hire")).toMatchObject({ kind: "done", status: "success" });
    const other = await stranger("sentinel", threadId);
    const cycle = other.command("cycle", { durationMs: 1_500 });
    await until(left, ({ view }) => view.run?.status === "running");
    void left.sync({ settings: { watch: ["tide"], durationMs: 0 } });
    await until(left, ({ pending }) => pending.sync);
    before.client.close();

    const thread = opened(tab(), "sentinel", threadId);
    await until(thread, ({ pending }) => pending.sync);
    expect(await cycle).toMatchObject({ kind: "done", status: "success" });
    const { view } = await until(thread, ({ pending }) => !pending.sync);
    expect(view.state).toMatchObject({ settings: { watch: ["tide"] } });
    expect(typeof view.state.lastAppliedClientMutationId).toBe("string");
    const again = opened(tab(), "sentinel", threadId);
    const witness = await stranger("sentinel", threadId);
    // A sync is confirmed while its run may still be open.
    for (const shown of [again, witness]) await until(shown, isOver);
    expect(again.getSnapshot().pending.sync).toBe(false);
    expect(shownBy(again)).toEqual(shownBy(witness));
    const syncs = again.getSnapshot().view.calls.filter(({ name }) => name === "sync");
    expect(syncs).toHaveLength(1);
  });

  it("with a tool of its own at work runs it again after a reload, and answers once", async () => {
    const { tab } = browser();
    const threadId = randomUUID();
    const pick: FrontendTool = {
      name: "pick_colour",
      description: "Lets the person pick a colour.",
      parameters: { type: "object", properties: { of: { type: "string" } } },
      run: () => new Promise(() => {}),
    };
    const before = tab();
    const asked = new Promise<unknown>((resolve) => {
      before.client.declareTool({
        ...pick,
        run(args, about) {
          resolve(args);
          return pick.run(args, about);
        },
      });
    });
    const left = opened(before, "errand", threadId);
    await left.send("the door");
    expect(await asked).toEqual({ of: "the door" });
    before.client.close();

    const ran: string[] = [];
    const threads = [tab(), tab()].map((one, index) => {
      one.client.declareTool({
        ...pick,
        run() {
          ran.push(`tab ${index}`);
          return "blue";
        },
      });
      return opened(one, "errand", threadId);
    });
    for (const thread of threads) {
      const { view } = await until(thread, (snapshot) =>
        snapshot.view.messages.some(({ content }) => content === "The page said: blue"),
      );
      expect(view.messages.filter(({ role }) => role === "tool")).toHaveLength(1);
    }
    expect(ran).toHaveLength(1);
    const witness = await stranger("errand", threadId);
    for (const thread of threads) await expect.poll(() => shownBy(thread)).toEqual(shownBy(witness));
  });
});

describe("A machine that slept", () => {
  it("looks at its line when it wakes, and shows what happened meanwhile", async () => {
    const threadId = randomUUID();
    let slept = 0;
    const clock: Clock = { now: () => systemClock.now() + slept, schedule: systemClock.schedule };
    let woke = () => {};
    const thread = opened(
      browser().tab({
        tabs: alone,
        clock,
        // The network is as dead as the machine was: only a new connection brings anything.
        connectionPolicy: { firstRetryMs: 50, maxRetryMs: 400, silenceMs: 15_000, graceMs: 100 },
        fetch: sleepyFetch(() => slept > 0),
        surroundings: {
          isHidden: () => false,
          isOnline: () => true,
          subscribe(listener) {
            woke = listener;
            return () => {};
          },
        },
      }),
      "talker",
      threadId,
    );
    await until(thread, ({ view }) => view.run !== null);
    slept = 3_600_000;
    const other = await stranger("talker", threadId);
    expect(await other.send(talk({ words: 5 }))).toMatchObject({ kind: "done", status: "success" });
    expect(thread.getSnapshot().view.messages).toEqual([]);
    woke();
    await until(thread, ({ view }) => view.messages.length === 2);
    await expect.poll(() => shownBy(thread)).toEqual(shownBy(other));
  });
});

/** What was open when the machine fell asleep says nothing any more; what is opened after that works. */
function sleepyFetch(isAsleep: () => boolean): typeof fetch {
  return async (input, init) => {
    const beganAwake = !isAsleep();
    const response = await fetch(input, init);
    if (!beganAwake || !response.body) return response;
    const silent = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        if (!isAsleep()) controller.enqueue(chunk);
      },
    });
    return new Response(response.body.pipeThrough(silent), response);
  };
}

/** Holds back everything a tab would hear, its timers included, until it wakes. */
function freezer(channels: ChannelPort, locks: LockPort) {
  let isFrozen = false;
  let missed: (() => void)[] = [];
  const whenAwake = (happen: () => void) => {
    if (isFrozen) missed.push(happen);
    else happen();
  };
  const options: Partial<AgentClientOptions> = {
    channels: {
      open: (name, listener) => channels.open(name, (message) => whenAwake(() => listener(message))),
    },
    locks: {
      request: (name, asked, held) =>
        new Promise((resolve, reject) => {
          locks.request(name, asked, held).then(resolve, (error) => whenAwake(() => reject(error)));
        }),
    },
    clock: {
      now: () => systemClock.now(),
      schedule: (ms, callback) => systemClock.schedule(ms, () => whenAwake(callback)),
    },
  };
  return {
    options,
    freeze() {
      isFrozen = true;
    },
    wake() {
      isFrozen = false;
      for (const happen of missed) happen();
      missed = [];
    },
  };
}
