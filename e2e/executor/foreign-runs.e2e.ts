import { randomUUID } from "node:crypto";
import { Client } from "@langchain/langgraph-sdk";
import {
  type Clock,
  type ExternalRunName,
  type ExternalRunWatcher,
  type GraphFinal,
  type StateChange,
  systemClock,
  ThroughlineError,
  type UpstreamChunk,
} from "@throughline/ai-core";
import { createLangGraphDevProvider, type ServerProviderOptions } from "@throughline/graph-executor";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { countedIn, numbersTo, orderOf, runOn } from "./run-on.js";
import { startUpstreamServer, type UpstreamServer } from "./upstream-server.js";

const PACE = { activeMs: 100, idleMs: 400 };
const SOON = { timeout: 20_000, interval: 20 };

interface Followed {
  readonly run: ExternalRunName;
  readonly chunks: UpstreamChunk[];
  readonly asked: AbortController;
  final?: GraphFinal;
}

/** An instance that watches threads and reads each run found there once. */
interface Instance {
  readonly watcher: ExternalRunWatcher;
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

function foreignRunsOf(changes: Partial<ServerProviderOptions> = {}) {
  const { foreignRuns } = createLangGraphDevProvider({ url: server.url, watchPace: PACE, ...changes });
  return foreignRuns ?? expect.fail("A server is used by others too.");
}

function startInstance(changes: Partial<ServerProviderOptions> = {}): Instance {
  const followed: Followed[] = [];
  const stateChanges: StateChange[] = [];
  const foreignRuns = foreignRunsOf(changes);
  const watcher = foreignRuns.watch({
    onRun(run) {
      if (followed.some((known) => known.run.upstreamRunId === run.upstreamRunId)) return;
      const entry: Followed = { run, chunks: [], asked: new AbortController() };
      followed.push(entry);
      void (async () => {
        const { stream, final } = foreignRuns.follow(run, entry.asked.signal);
        for await (const chunk of stream) entry.chunks.push(chunk);
        entry.final = await final;
      })();
    },
    onStateChange: (change) => stateChanges.push(change),
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
  it("is followed whole by all who care to, and its starter misses nothing", async () => {
    const [a, b] = [startInstance(), startInstance()];
    const threadId = await newThread();
    for (const { watcher } of [a, b]) watcher.watch(threadId);
    const heard = heardBy(
      outsider.runs.stream(threadId, "counter", { ...counting(150, 10), streamResumable: true }),
    );
    for (const { followed, changes } of [a, b]) {
      await vi.waitFor(() => expect(followed[0]?.final).toBeDefined(), SOON);
      expect(followed).toHaveLength(1);
      expect(followed[0]?.run.threadId).toBe(threadId);
      expect(followed[0]?.final).toMatchObject({ ok: true, status: "success" });
      expect(countedIn(followed[0]?.chunks ?? [])).toEqual(numbersTo(150));
      expect(changes).toEqual([]);
    }
    expect(await heard).toEqual(numbersTo(150));
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
    const { chunks, final } = instance.followed[0] ?? {};
    expect(new Set(chunks?.map(({ mode }) => mode))).toEqual(new Set(["messages", "values"]));
    expect(JSON.stringify(chunks?.filter(({ mode }) => mode === "messages"))).toContain("I counted to 150.");
    expect(final).toMatchObject({ ok: true, status: "success" });
    expect(final?.messages?.at(-1)?.content).toBe("I counted to 150.");
  });

  it("has its messages told by its states when its starter had no use for tokens", async () => {
    const threadId = await newThread();
    const instance = startInstance();
    instance.watcher.watch(threadId);
    await outsider.runs.create(threadId, "counter", {
      input: counting(50, 10).input,
      streamMode: ["values"],
      streamResumable: true,
    });
    await vi.waitFor(() => expect(instance.followed[0]?.final).toBeDefined(), SOON);
    const messages = instance.followed[0]?.chunks.filter(({ mode }) => mode === "messages");
    expect(messages).toHaveLength(2);
    expect(JSON.stringify(messages)).toContain("I counted to 50.");
  });

  it("goes on when whoever follows it lets go, and is read whole by the next one", async () => {
    const [a, b] = [startInstance(), startInstance()];
    const threadId = await newThread();
    a.watcher.watch(threadId);
    await outsider.runs.create(threadId, "counter", { ...counting(150, 10), streamResumable: true });
    await vi.waitFor(() => expect(a.followed[0]?.chunks.length).toBeGreaterThan(20), SOON);
    a.followed[0]?.asked.abort(new ThroughlineError("conflict", "Somebody else has the lease."));
    b.watcher.watch(threadId);
    await vi.waitFor(() => expect(b.followed[0]?.final).toBeDefined(), SOON);
    expect(a.followed[0]?.final).toMatchObject({ ok: false, error: { code: "conflict" } });
    expect(b.followed[0]?.final).toMatchObject({ ok: true, status: "success" });
    expect(countedIn(b.followed[0]?.chunks ?? [])).toEqual(numbersTo(150));
  });

  it.each([true, false])("is cancelled by who follows it (log that can be read again: %s)", async (again) => {
    const instance = startInstance();
    const threadId = await newThread();
    instance.watcher.watch(threadId);
    const order = { ...counting(2_000, 10), streamResumable: again };
    const { run_id } = await outsider.runs.create(threadId, "counter", order);
    await vi.waitFor(() => expect(instance.followed[0]?.chunks.length).toBeGreaterThan(0), SOON);
    instance.followed[0]?.asked.abort(new ThroughlineError("cancelled", "Enough."));
    await vi.waitFor(() => expect(instance.followed[0]?.final).toBeDefined(), SOON);
    expect(instance.followed[0]?.final).toMatchObject({ ok: false, status: "cancelled" });
    expect((await outsider.runs.get(threadId, run_id)).status).toBe("interrupted");
  });

  it("is told by its checkpoint when it was over before somebody came to follow it", async () => {
    const threadId = await newThread();
    await outsider.runs.wait(threadId, "counter", { input: counting(3, 0).input });
    const [over] = await outsider.runs.list(threadId);
    const run = { threadId, upstreamRunId: over?.run_id ?? "" };
    const { stream, final } = foreignRunsOf().follow(run, new AbortController().signal);
    for await (const chunk of stream) expect.fail(`Nothing is streamed any more, not ${chunk.mode}.`);
    expect(await final).toMatchObject({ ok: true, status: "success", upstreamRunId: run.upstreamRunId });
    expect((await final).messages?.at(-1)?.content).toBe("I counted to 3.");
  });

  it("is lost when the server no longer knows it", async () => {
    const run = { threadId: await newThread(), upstreamRunId: randomUUID() };
    const { stream, final } = foreignRunsOf().follow(run, new AbortController().signal);
    for await (const chunk of stream) expect.fail(chunk.mode);
    expect(await final).toMatchObject({ ok: false, error: { code: "run_lost" } });
  });

  it("is told as passed when it came and went between two looks", async () => {
    const threadId = await newThread();
    let looks = 0;
    const clock: Clock = {
      now: () => systemClock.now(),
      schedule(ms, callback) {
        // Scheduled when a look is over; the sweep is scheduled before there is one.
        if (ms === 1_500) looks++;
        return systemClock.schedule(ms, callback);
      },
    };
    const instance = startInstance({ clock, watchPace: { activeMs: 1_500, idleMs: 1_500 } });
    await outsider.runs.wait(threadId, "counter", { input: counting(1, 0).input });
    instance.watcher.watch(threadId);
    await vi.waitFor(() => expect(looks).toBe(2), SOON);
    const { run_id } = await outsider.runs.create(threadId, "counter", { input: counting(2, 0).input });
    await vi.waitFor(() => expect(instance.changes).toHaveLength(1), SOON);
    const [change] = instance.changes;
    expect(change).toMatchObject({ threadId, passedRun: { upstreamRunId: run_id } });
    expect(change?.checkpoint.messages?.at(-1)?.content).toBe("I counted to 2.");
  });

  it("is noticed at once on a thread that was quiet for long, whatever the number of threads", async () => {
    const instance = startInstance({ watchPace: { activeMs: 1_000, idleMs: 3_600_000 } });
    const threads = await Promise.all(Array.from({ length: 150 }, newThread));
    for (const threadId of threads) instance.watcher.watch(threadId);
    const threadId = threads.at(-1) ?? "";
    const order = { ...counting(400, 10), streamResumable: true };
    const { run_id } = await outsider.runs.create(threadId, "counter", order);
    await vi.waitFor(() => expect(instance.followed[0]?.chunks.length).toBeGreaterThan(0), SOON);
    expect(instance.followed[0]?.run).toEqual({ threadId, upstreamRunId: run_id, dialect: "modes" });
    expect((await outsider.runs.get(threadId, run_id)).status).toBe("running");
    await vi.waitFor(() => expect(instance.followed[0]?.final).toBeDefined(), SOON);
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

  it("has an outsider's run active for as long as it runs, and none when it does not exist", async () => {
    const foreignRuns = foreignRunsOf();
    const threadId = await newThread();
    const { run_id } = await outsider.runs.create(threadId, "counter", counting(2_000, 10));
    expect(await foreignRuns.active(threadId)).toEqual([
      { threadId, upstreamRunId: run_id, dialect: "modes" },
    ]);
    await outsider.runs.cancel(threadId, run_id);
    await vi.waitFor(async () => expect(await foreignRuns.active(threadId)).toEqual([]), SOON);
    expect(await foreignRuns.active(randomUUID())).toEqual([]);
  });
});
