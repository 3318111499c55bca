import { randomUUID } from "node:crypto";
import { createSimulatedClock, type Fence } from "@throughline/ai-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createMemoryDatabase } from "./memory/database.js";
import { createMemoryThreadDirectory } from "./memory/directory.js";
import { createMemoryRunRegistry } from "./memory/run-registry.js";
import { openPostgres } from "./postgres/database.js";
import { createPostgresThreadDirectory, listListings } from "./postgres/directory.js";
import { createPostgresRunRegistry } from "./postgres/registry/run-registry.js";
import type { RunListing, RunRegistry, StartRun } from "./registry/run-registry.js";
import { openTestDatabase } from "./testing/test-database.js";
import type { ThreadDirectory, ThreadQuery } from "./thread-directory.js";
import type { ThreadRef, ThreadScope } from "./thread-ref.js";

interface Setup {
  readonly directory: ThreadDirectory;
  readonly registry: RunRegistry;
  /** So that what comes after is later, to the millisecond. */
  later(): Promise<void>;
  /** As if all threads of the account had been active at the same moment. */
  atOnce(account: string): Promise<void>;
  close(): Promise<void>;
}

async function inMemory(): Promise<Setup> {
  const clock = createSimulatedClock(1_000_000);
  const database = createMemoryDatabase(clock);
  return {
    directory: createMemoryThreadDirectory(database),
    registry: createMemoryRunRegistry(database),
    later: async () => void clock.advance(1),
    async atOnce(account) {
      for (const row of database.listings.values()) {
        if (row.thread.account === account) row.lastActivityAt = 0;
      }
    },
    async close() {},
  };
}

async function inPostgres(): Promise<Setup> {
  const { url, close } = await openTestDatabase();
  const database = await openPostgres({ connection: url });
  return {
    directory: createPostgresThreadDirectory(database),
    registry: createPostgresRunRegistry(database),
    async later() {
      const now = async () => {
        const { rows } = await database.pool.query<{ now: Date }>("select clock_timestamp() as now");
        return rows[0]?.now.getTime();
      };
      const before = await now();
      while ((await now()) === before);
    },
    async atOnce(account) {
      await database.pool.query(
        "update throughline.thread_listings set last_activity_at = '2000-01-01' where account = $1",
        [account],
      );
    },
    async close() {
      await database.close();
      await close();
    },
  };
}

describe.each([
  ["memory", inMemory],
  ["PostgreSQL", inPostgres],
] as const)("The directory of threads in %s", (_, open) => {
  let setup: Setup;
  let account = "";
  beforeAll(async () => {
    setup = await open();
  });
  afterAll(() => setup.close());
  beforeEach(() => {
    account = `acme-${Math.random().toString(36).slice(2)}`;
  });

  const thread = (threadId: string, subject?: string): ThreadRef => ({
    account,
    ...(subject !== undefined && { subject }),
    threadId,
  });

  const lease = { owner: "here", leaseMs: 60_000 };

  function request(
    ref: ThreadRef,
    listing: Partial<RunListing> = {},
    more: Partial<StartRun> = {},
  ): StartRun {
    const threadName = `name of ${ref.threadId}`;
    return {
      ...lease,
      thread: ref,
      stateKey: `chat/${threadName}`,
      runId: randomUUID(),
      graphId: "langgraph:chat",
      origin: { kind: "client" },
      start: { kind: "input", messages: [] },
      request: {},
      strategy: "reject",
      listing: { threadName, derivedTitle: undefined, ...listing },
      ...more,
    };
  }

  async function started(...asked: Parameters<typeof request>): Promise<Fence> {
    const result = await setup.registry.start(request(...asked));
    if (result.kind !== "started") throw new Error(result.kind);
    await setup.later();
    return result.fence;
  }

  async function ran(...asked: Parameters<typeof request>): Promise<void> {
    await setup.registry.finish(await started(...asked), { status: "success" });
    await setup.later();
  }

  async function names(query: Partial<ThreadQuery> = {}, subject?: string): Promise<readonly string[]> {
    const page = await setup.directory.list({ account, subject }, { limit: 100, ...query });
    return page.threads.map((listing) => listing.thread.threadId);
  }

  it("lists what was active last first, and gives page after page without a hole", async () => {
    for (const id of ["a", "b", "c", "d", "e"]) await ran(thread(id));
    await started(thread("b"));
    expect(await names()).toEqual(["b", "e", "d", "c", "a"]);
    const seen: string[] = [];
    for (let after: string | undefined, pages = 0; pages < 3; pages += 1) {
      const page = await setup.directory.list({ account }, { limit: 2, after });
      seen.push(...page.threads.map((listing) => listing.thread.threadId));
      after = page.next;
      expect(after === undefined).toBe(pages === 2);
    }
    expect(seen).toEqual(["b", "e", "d", "c", "a"]);
    const forged = setup.directory.list({ account }, { limit: 2, after: "bm90IGEgcGFnZQ" });
    await expect(forged).rejects.toMatchObject({ code: "invalid_input", details: { field: "after" } });
  });

  it("gives page after page without a hole also of what was active at the same moment", async () => {
    for (const subject of [undefined, "ann", "bob"]) {
      for (const id of ["a", "b"]) await started(thread(id, subject));
    }
    await setup.atOnce(account);
    const pagesOf = async (scope: ThreadScope) => {
      const seen: string[] = [];
      let after: string | undefined;
      do {
        const page = await setup.directory.list(scope, { limit: 1, after });
        seen.push(...page.threads.map(({ thread: { subject, threadId } }) => `${subject ?? ""}/${threadId}`));
        after = page.next;
      } while (after !== undefined);
      return seen;
    };
    const shared = ["/b", "/a"];
    expect(await pagesOf({ account, everySubject: true })).toEqual([
      "bob/b",
      "bob/a",
      "ann/b",
      "ann/a",
      ...shared,
    ]);
    expect(await pagesOf({ account, subject: "ann", withShared: true })).toEqual([
      "ann/b",
      "ann/a",
      ...shared,
    ]);
  });

  it("knows whether a thread runs, waits, failed or rests", async () => {
    for (const [id, status] of [
      ["rests", "success"],
      ["asks", "interrupted"],
      ["broke", "error"],
    ] as const) {
      await setup.registry.finish(await started(thread(id)), { status });
    }
    await started(thread("runs"));
    expect(await names({ status: "running" })).toEqual(["runs"]);
    expect(await names({ status: "waiting" })).toEqual(["asks"]);
    expect(await names({ status: "error" })).toEqual(["broke"]);
    expect(await names({ status: "idle" })).toEqual(["rests"]);
  });

  it("does not believe a driver whose run was recovered by another", async () => {
    const old = await started(thread("a"));
    await setup.registry.release(old);
    const claims = await setup.registry.claimExpired(lease, 100);
    const heir = claims.find(({ run }) => run.runId === old.runId);
    if (!heir) return expect.unreachable();
    expect(await setup.registry.finish(old, { status: "error" })).toEqual({ ok: false, reason: "fenced" });
    expect(await setup.directory.find(thread("a"))).toMatchObject({
      status: "running",
      token: heir.fence.token,
    });
  });

  it("says that a run which waited runs once it is claimed, and calls the thread by what it says", async () => {
    const first = await started(thread("a"));
    const waiting = request(thread("a"), { derivedTitle: "Second \u0000thought" }, { strategy: "enqueue" });
    await setup.registry.start(waiting);
    expect(await setup.directory.find(thread("a"))).toMatchObject({
      status: "running",
      title: "Second thought",
      lastRunId: first.runId,
    });
    await setup.registry.finish(first, { status: "error" });
    expect(await setup.directory.find(thread("a"))).toMatchObject({
      status: "error",
      lastRunId: first.runId,
    });
    const claim = await setup.registry.claimNext(thread("a"), lease);
    expect(await setup.directory.find(thread("a"))).toMatchObject({
      status: "running",
      lastRunId: waiting.runId,
      token: claim?.fence.token,
    });
  });

  it("calls a thread by what was first said in it until a person names it", async () => {
    await ran(thread("a"), { derivedTitle: "How are tides made?" });
    await ran(thread("a"), { derivedTitle: "And now?" });
    expect(await setup.directory.find(thread("a"))).toMatchObject({
      title: "How are tides made?",
      isTitledByPerson: false,
    });
    await setup.directory.change(thread("a"), { title: "Tides" });
    await started(thread("a"), { derivedTitle: "More" });
    expect(await setup.directory.find(thread("a"))).toMatchObject({ title: "Tides", isTitledByPerson: true });
    await setup.directory.change(thread("a"), { title: null });
    expect(await setup.directory.find(thread("a"))).toMatchObject({ title: "How are tides made?" });
  });

  it("searches titles and names in any case, and takes no character for more than itself", async () => {
    await started(thread("a"), { derivedTitle: "ÄPFEL für 100%" });
    await started(thread("b"), { derivedTitle: "Birnen", threadName: "Obst_Liste" });
    expect(await names({ search: "äpfel" })).toEqual(["a"]);
    expect(await names({ search: "100%" })).toEqual(["a"]);
    expect(await names({ search: "1%0" })).toEqual([]);
    expect(await names({ search: "obst_l" })).toEqual(["b"]);
    expect(await names({ search: "obstxl" })).toEqual([]);
    await setup.directory.change(thread("b"), { title: "Quitten" });
    expect(await names({ search: "birnen" })).toEqual([]);
    expect(await names({ search: "QUITTEN" })).toEqual(["b"]);
    await setup.directory.change(thread("b"), { isArchived: true });
    expect(await names({ search: "quitten" })).toEqual(["b"]);
    await setup.directory.change(thread("b"), { title: null });
    expect(await names({ search: "birnen" })).toEqual(["b"]);
  });

  it("remembers where a fork began and which model its runs use, until that is taken back", async () => {
    await ran(thread("a"));
    const forkedFrom = { threadName: "origin", subject: "ann", checkpointId: "c1", messageId: "m1" };
    expect(await setup.directory.find(thread("a"))).toMatchObject({
      forkedFrom: undefined,
      model: undefined,
    });
    await setup.directory.change(thread("a"), { forkedFrom, model: "small" });
    await setup.directory.change(thread("a"), { title: "Fork" });
    await started(thread("a"));
    expect(await setup.directory.find(thread("a"))).toMatchObject({
      forkedFrom,
      model: "small",
      title: "Fork",
    });
    const look = () => setup.registry.look({ thread: thread("a"), runId: randomUUID(), answers: [] });
    expect(await look()).toMatchObject({ model: "small" });
    await setup.directory.change(thread("a"), { model: null });
    expect(await look()).toMatchObject({ model: undefined });
    expect(await setup.directory.find(thread("a"))).toMatchObject({ forkedFrom, model: undefined });
  });

  it("puts an archived thread aside, and a run does not bring it back", async () => {
    await ran(thread("a"));
    await started(thread("b"));
    expect(await setup.directory.change(thread("a"), { isArchived: true })).toMatchObject({
      isArchived: true,
    });
    await started(thread("a"));
    expect(await names({ isArchived: false })).toEqual(["b"]);
    expect(await names({ isArchived: true })).toEqual(["a"]);
    expect(await names()).toEqual(["a", "b"]);
    expect(await setup.directory.change(thread("never"), { isArchived: true })).toBeUndefined();
  });

  it("lists agents apart, and a subject's threads to no other subject", async () => {
    await started(thread("a"), {}, { graphId: "langgraph:poet" });
    await started(thread("b"));
    await started(thread("private", "ann"));
    expect(await names({ graphId: "langgraph:poet" })).toEqual(["a"]);
    expect(await names()).toEqual(["b", "a"]);
    expect(await names({}, "ann")).toEqual(["private"]);
    expect(await names({}, "bob")).toEqual([]);
    const all = await setup.directory.list({ account, everySubject: true }, { limit: 10 });
    expect(all.threads).toHaveLength(3);
    const both = { account, subject: "ann", withShared: true };
    const first = await setup.directory.list(both, { limit: 2 });
    const rest = await setup.directory.list(both, { limit: 2, after: first.next });
    const listed = [...first.threads, ...rest.threads].map(({ thread: { threadId } }) => threadId);
    expect(listed).toEqual(["private", "b", "a"]);
    const bobs = await setup.directory.list({ ...both, subject: "bob" }, { limit: 10 });
    expect(bobs.threads.map(({ thread: { threadId } }) => threadId)).toEqual(["b", "a"]);
    expect((await setup.directory.list({ account: "other" }, { limit: 10 })).threads).toEqual([]);
    expect(await setup.directory.find({ ...thread("private"), subject: "bob" })).toBeUndefined();
  });

  it("narrows what a subject shares with all as it does the subject's own", async () => {
    const both = { account, subject: "ann", withShared: true };
    await ran(thread("poem"), { derivedTitle: "apples" }, { graphId: "langgraph:poet" });
    await ran(thread("old", "ann"), { derivedTitle: "pears" });
    await started(thread("busy", "ann"), { derivedTitle: "plums" });
    await setup.directory.change(thread("old", "ann"), { isArchived: true });
    for (const scope of [both, { account, everySubject: true }]) {
      const narrowed = async (query: Partial<ThreadQuery>) =>
        (await setup.directory.list(scope, { limit: 9, ...query })).threads.map(
          (each) => each.thread.threadId,
        );
      expect(await narrowed({})).toEqual(["busy", "old", "poem"]);
      expect(await narrowed({ graphId: "langgraph:poet" })).toEqual(["poem"]);
      expect(await narrowed({ graphId: "langgraph:none" })).toEqual([]);
      expect(await narrowed({ status: "running" })).toEqual(["busy"]);
      expect(await narrowed({ status: "idle" })).toEqual(["old", "poem"]);
      expect(await narrowed({ isArchived: true })).toEqual(["old"]);
      expect(await narrowed({ isArchived: false })).toEqual(["busy", "poem"]);
      expect(await narrowed({ search: "p" })).toEqual(["busy", "old", "poem"]);
      expect(await narrowed({ search: "apples" })).toEqual(["poem"]);
      expect(await narrowed({ search: "grapes" })).toEqual([]);
    }
  });

  it("deletes a listing, and a run that ends afterwards does not bring it back", async () => {
    const running = await started(thread("a"));
    await started(thread("b"));
    await started(thread("private", "ann"));
    await setup.directory.deleteThread(thread("a"));
    await setup.registry.finish(running, { status: "success" });
    expect(await names()).toEqual(["b"]);
    await setup.directory.deleteAccount(account, "");
    expect(await names()).toEqual([]);
    expect(await names({}, "ann")).toEqual(["private"]);
    await setup.directory.deleteAccount(account);
    expect(await names({}, "ann")).toEqual([]);
  });
});

it("What waits for people is found by an index of its own, however many threads there are", async () => {
  const { url, close } = await openTestDatabase();
  const database = await openPostgres({ connection: url });
  try {
    await database.pool.query(
      `insert into throughline.thread_listings (account, subject, thread_id, graph_id, thread_name, search_text, status,
         last_run_id, token, created_at, last_activity_at)
       select 'acme', case when n % 2 = 0 then '' else 'ann' end, n::text, 'langgraph:chat', n::text, n::text,
         case when n % 1000 = 0 then 'waiting' else 'idle' end, 'run', 1, now(), now() + n * interval '1 second'
       from generate_series(1, 20000) n`,
    );
    await database.pool.query("analyze throughline.thread_listings");
    for (const [whose, subjects] of [
      ["own and shared", ["ann", ""]],
      ["one or all", "ann"],
    ] as const) {
      const { rows } = await database.pool.query<{ "QUERY PLAN": string }>(
        `explain ${listListings("throughline", whose)}`,
        ["acme", subjects, null, "waiting", false, "", null, null, null, 51],
      );
      const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
      expect(plan).toContain("thread_listings_waiting");
      expect(plan).not.toContain("Seq Scan");
    }
  } finally {
    await database.close();
    await close();
  }
});
