import { randomUUID } from "node:crypto";
import { Client } from "@langchain/langgraph-sdk";
import { type Clock, type GraphFinal, systemClock } from "@throughline/ai-core";
import {
  createForeignRunWatcher,
  createLangGraphDevProvider,
  createLocalClaims,
  type ForeignChunk,
  type ForeignRun,
  type ForeignRunWatcher,
  type ForeignRunWatcherOptions,
  type StateChange,
} from "@throughline/graph-executor";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { countedIn, numbersTo, orderOf, runOn } from "./run-on.js";
import { startUpstreamServer, type UpstreamServer } from "./upstream-server.js";

const PACE = { activeMs: 100, idleMs: 400 };
const SOON = { timeout: 20_000, interval: 20 };

interface Followed {
  readonly run: ForeignRun;
  readonly chunks: ForeignChunk[];
  final?: GraphFinal;
}

/** An instance that watches threads and reads whatever it is given. */
interface Instance {
  readonly watcher: ForeignRunWatcher;
  readonly followed: Followed[];
  readonly changes: StateChange[];
}

let server: UpstreamServer;
let outsider: Client;
const instances: Instance[] = [];

beforeAll(async () => {
  server = await startUpstreamServer();
  outsider = new Client({ apiUrl: server.url, apiKey: null });
});
afterEach(() => {
  for (const { watcher } of instances.splice(0)) watcher.close();
});
afterAll(() => server?.stop());

function startInstance(changes: Partial<ForeignRunWatcherOptions> = {}): Instance {
  const followed: Followed[] = [];
  const stateChanges: StateChange[] = [];
  const watcher = createForeignRunWatcher({
    url: server.url,
    pace: PACE,
    claims: createLocalClaims(),
    listener: {
      onRun(run) {
        const entry: Followed = { run, chunks: [] };
        followed.push(entry);
        void (async () => {
          for await (const chunk of run.stream) entry.chunks.push(chunk);
          entry.final = await run.final;
        })();
      },
      onStateChange: (change) => stateChanges.push(change),
    },
    ...changes,
  });
  const instance = { watcher, followed, changes: stateChanges };
  instances.push(instance);
  return instance;
}

const newThread = async () => (await outsider.threads.create()).thread_id;
const MODES: ("custom" | "values" | "updates")[] = ["custom", "values", "updates"];
const counting = (count: number, paceMs: number) => ({
  input: { messages: [{ type: "human", id: randomUUID(), content: "Go" }], count, paceMs },
  streamMode: MODES,
});

/** What the outsider hears on a stream of its own. */
async function heardBy(stream: AsyncIterable<{ event: string; data: unknown }>): Promise<readonly number[]> {
  const events: { ns: string[]; mode: string; data: unknown }[] = [];
  for await (const { event, data } of stream) events.push({ ns: [], mode: event, data });
  return countedIn(events);
}

describe("a run that somebody else started", () => {
  it("is followed by exactly one of two instances, whole, and its starter misses nothing", async () => {
    const claims = createLocalClaims();
    const [a, b] = [startInstance({ claims }), startInstance({ claims })];
    const threadId = await newThread();
    for (const { watcher } of [a, b]) watcher.watch(threadId);
    const heard = heardBy(
      outsider.runs.stream(threadId, "counter", { ...counting(150, 10), streamResumable: true }),
    );
    await vi.waitFor(() => expect([...a.followed, ...b.followed][0]?.final).toBeDefined(), SOON);
    const all = [...a.followed, ...b.followed];
    expect(all).toHaveLength(1);
    expect(all[0]?.run).toMatchObject({ threadId, graphName: "counter", detail: "chunks" });
    expect(all[0]?.final).toMatchObject({ ok: true, status: "success" });
    expect(countedIn(all[0]?.chunks ?? [])).toEqual(numbersTo(150));
    expect(await heard).toEqual(numbersTo(150));
    expect([...a.changes, ...b.changes]).toEqual([]);
  });

  it("is replayed up to where it stands, and live from there", async () => {
    const threadId = await newThread();
    const { run_id } = await outsider.runs.create(threadId, "counter", {
      ...counting(120, 20),
      streamResumable: true,
    });
    for await (const { event, data } of outsider.runs.joinStream(threadId, run_id, { lastEventId: "-1" })) {
      if (countedIn([{ ns: [], mode: event, data }])[0] === 30) break;
    }
    const instance = startInstance();
    instance.watcher.watch(threadId);
    await vi.waitFor(() => expect(instance.followed[0]?.final).toBeDefined(), SOON);
    const chunks = instance.followed[0]?.chunks ?? [];
    expect(countedIn(chunks)).toEqual(numbersTo(120));
    const origins = chunks.map(({ origin }) => origin);
    expect(origins.indexOf("live")).toBeGreaterThan(10);
    expect(origins.lastIndexOf("replay")).toBe(origins.indexOf("live") - 1);
    expect(origins.filter((origin) => origin === "live").length).toBeGreaterThan(40);
  });

  it("is waited for while it is pending, and then followed from its first word", async () => {
    const threadId = await newThread();
    const instance = startInstance();
    instance.watcher.watch(threadId);
    await outsider.runs.create(threadId, "counter", {
      ...counting(20, 5),
      streamResumable: true,
      afterSeconds: 1,
    });
    expect((await outsider.threads.get(threadId)).status).toBe("busy");
    expect(await outsider.runs.list(threadId, { status: "pending" })).toHaveLength(1);
    await vi.waitFor(() => expect(instance.followed[0]?.final).toBeDefined(), SOON);
    expect(countedIn(instance.followed[0]?.chunks ?? [])).toEqual(numbersTo(20));
    expect(new Set(instance.followed[0]?.chunks.map(({ origin }) => origin))).toEqual(new Set(["live"]));
    await vi.waitFor(async () => expect((await outsider.threads.get(threadId)).status).toBe("idle"), SOON);
  });

  it("is never robbed of a word when its log can be read only once", async () => {
    const threadId = await newThread();
    const instance = startInstance();
    instance.watcher.watch(threadId);
    const heard = await heardBy(outsider.runs.stream(threadId, "counter", counting(150, 10)));
    expect(heard).toEqual(numbersTo(150));
    await vi.waitFor(() => expect(instance.followed[0]?.final).toBeDefined(), SOON);
    const { run, chunks, final } = instance.followed[0] ?? {};
    expect(run?.detail).toBe("states");
    expect(new Set(chunks?.map(({ mode }) => mode))).toEqual(new Set(["values"]));
    expect(final).toMatchObject({ ok: true, status: "success" });
    expect(final?.messages?.at(-1)?.content).toBe("I counted to 150.");
  });

  it("is taken by another instance when the one that followed it goes away", async () => {
    const claims = createLocalClaims();
    const [a, b] = [startInstance({ claims }), startInstance({ claims })];
    const threadId = await newThread();
    a.watcher.watch(threadId);
    await outsider.runs.create(threadId, "counter", { ...counting(150, 10), streamResumable: true });
    await vi.waitFor(() => expect(a.followed[0]?.chunks.length).toBeGreaterThan(20), SOON);
    b.watcher.watch(threadId);
    a.watcher.close();
    await vi.waitFor(() => expect(b.followed[0]?.final).toBeDefined(), SOON);
    expect(a.followed[0]?.final).toMatchObject({ ok: false, error: { code: "conflict" } });
    expect(b.followed[0]?.final).toMatchObject({ ok: true, status: "success" });
    expect(countedIn(b.followed[0]?.chunks ?? [])).toEqual(numbersTo(150));
  });

  it("is told as passed when it came and went between two looks", async () => {
    const threadId = await newThread();
    const claims = createLocalClaims();
    let looks = 0;
    const clock: Clock = {
      now: () => systemClock.now(),
      schedule(ms, callback) {
        // Scheduled when a look is over.
        if (ms === 1_500) looks++;
        return systemClock.schedule(ms, callback);
      },
    };
    const slow = { claims, clock, pace: { activeMs: 1_500, idleMs: 1_500 } };
    const [a, b] = [startInstance(slow), startInstance(slow)];
    await outsider.runs.wait(threadId, "counter", { input: counting(1, 0).input });
    for (const { watcher } of [a, b]) watcher.watch(threadId);
    await vi.waitFor(() => expect(looks).toBe(2), SOON);
    const { run_id } = await outsider.runs.create(threadId, "counter", { input: counting(2, 0).input });
    await vi.waitFor(() => expect([...a.changes, ...b.changes]).toHaveLength(1), SOON);
    const [change] = [...a.changes, ...b.changes];
    expect(change).toMatchObject({ threadId, passedRun: { upstreamRunId: run_id } });
    expect(change?.checkpoint.messages.at(-1)?.content).toBe("I counted to 2.");
  });

  it("is not taken for foreign when it is ours, while a stranger and a late joiner read it whole", async () => {
    const threadId = await newThread();
    const [ours, stranger] = [startInstance(), startInstance({ isOurs: () => false })];
    for (const { watcher } of [ours, stranger]) watcher.watch(threadId);
    const request = orderOf("counter", { count: 150, paceMs: 10 }, { threadId });
    const running = runOn(createLangGraphDevProvider({ url: server.url }), request);
    await vi.waitFor(() => expect(stranger.followed[0]?.chunks.length).toBeGreaterThan(20), SOON);
    const [active] = await outsider.runs.list(threadId, { status: "running" });
    const late = heardBy(outsider.runs.joinStream(threadId, active?.run_id ?? "", { lastEventId: "-1" }));
    const { chunks, final } = await running;
    expect(final.status).toBe("success");
    expect(countedIn(chunks)).toEqual(numbersTo(150));
    expect(await late).toEqual(numbersTo(150));
    await vi.waitFor(() => expect(stranger.followed[0]?.final).toBeDefined(), SOON);
    expect(stranger.followed[0]?.chunks.map(({ origin: _, ...chunk }) => chunk)).toEqual(chunks);
    expect(ours.followed).toEqual([]);
    expect(ours.changes).toEqual([]);
  });
});

describe("a thread that somebody connects to", () => {
  it("has its state and nothing active when its run is finished", async () => {
    const provider = createLangGraphDevProvider({ url: server.url });
    const request = orderOf("counter", { count: 3 });
    const { final } = await runOn(provider, request);
    for (const status of ["pending", "running"] as const) {
      expect(await outsider.runs.list(request.threadId, { status })).toEqual([]);
    }
    expect(await provider.getState(request)).toMatchObject({
      checkpointId: final.checkpointId,
      messages: [{ content: "Go" }, { content: "I counted to 3." }],
      next: [],
    });
  });

  it("shows what a schedule inside the server's own process wrote, though no run did it", async () => {
    const threadId = await newThread();
    await outsider.runs.wait(threadId, "keeper", { input: { messages: [] } });
    const instance = startInstance();
    instance.watcher.watch(threadId);
    await vi.waitFor(() => expect(instance.changes).toHaveLength(2), SOON);
    expect(instance.changes.map(({ checkpoint }) => checkpoint.state)).toEqual([{ ticks: 1 }, { ticks: 2 }]);
    expect(instance.changes.every(({ passedRun }) => passedRun === undefined)).toBe(true);
    expect(instance.followed).toEqual([]);
  });

  it("is among the busy ones for as long as something runs", async () => {
    const { watcher } = startInstance();
    const threadId = await newThread();
    const { run_id } = await outsider.runs.create(threadId, "counter", counting(2_000, 10));
    expect(await watcher.busyThreads()).toContain(threadId);
    await outsider.runs.cancel(threadId, run_id);
    await vi.waitFor(async () => expect(await watcher.busyThreads()).not.toContain(threadId), SOON);
  });
});
