import { createSimulatedClock } from "@throughline/ai-core";
import { createMemoryDatabase, migrate, openPostgres, type ThreadRef } from "@throughline/thread-log";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { SERVER_MIGRATIONS, SERVER_MIGRATIONS_RECORD } from "../database/server-migrations.js";
import { openTestPostgres } from "../testing/test-postgres.js";
import { createMemoryThreadDirectory } from "./memory-thread-directory.js";
import { createPostgresThreadDirectory } from "./postgres-thread-directory.js";
import type { StartedRun, ThreadDirectory, ThreadQuery } from "./thread-directory.js";

interface Place {
  readonly directory: ThreadDirectory;
  /** So that what comes after is later, to the millisecond. */
  later(): Promise<void>;
  close(): Promise<void>;
}

async function inMemory(): Promise<Place> {
  const clock = createSimulatedClock(1_000_000);
  return {
    directory: createMemoryThreadDirectory(createMemoryDatabase(clock)),
    later: async () => void clock.advance(1),
    async close() {},
  };
}

async function inPostgres(): Promise<Place> {
  const postgres = await openTestPostgres();
  const database = await openPostgres({ connection: postgres.url });
  await migrate(database.pool, database.schema, {
    record: SERVER_MIGRATIONS_RECORD,
    migrations: SERVER_MIGRATIONS,
  });
  return {
    directory: createPostgresThreadDirectory(database),
    async later() {
      const now = async () => {
        const { rows } = await database.pool.query<{ now: Date }>("select clock_timestamp() as now");
        return rows[0]?.now.getTime();
      };
      const before = await now();
      while ((await now()) === before);
    },
    async close() {
      await database.close();
      await postgres.close();
    },
  };
}

describe.each([
  ["memory", inMemory],
  ["PostgreSQL", inPostgres],
] as const)("The directory of threads in %s", (_, open) => {
  let place: Place;
  let account = "";
  let token = 0n;
  beforeAll(async () => {
    place = await open();
  });
  afterAll(() => place.close());
  beforeEach(() => {
    account = `acme-${Math.random().toString(36).slice(2)}`;
  });

  const thread = (threadId: string, subject?: string): ThreadRef => ({
    account,
    ...(subject !== undefined && { subject }),
    threadId,
  });

  async function started(ref: ThreadRef, more: Partial<StartedRun> = {}): Promise<bigint> {
    token += 1n;
    await place.directory.runStarted({
      thread: ref,
      graphId: "langgraph:chat",
      threadName: `name of ${ref.threadId}`,
      runId: `run-${token}`,
      token,
      derivedTitle: undefined,
      ...more,
    });
    await place.later();
    return token;
  }

  async function names(query: Partial<ThreadQuery> = {}, subject?: string): Promise<readonly string[]> {
    const page = await place.directory.list({ account, subject }, { limit: 100, ...query });
    return page.threads.map((listing) => listing.thread.threadId);
  }

  it("lists what was active last first, and gives page after page without a hole", async () => {
    for (const id of ["a", "b", "c", "d", "e"]) await started(thread(id));
    await started(thread("b"));
    expect(await names()).toEqual(["b", "e", "d", "c", "a"]);
    const seen: string[] = [];
    for (let after: string | undefined, pages = 0; pages < 3; pages += 1) {
      const page = await place.directory.list({ account }, { limit: 2, after });
      seen.push(...page.threads.map((listing) => listing.thread.threadId));
      after = page.next;
      expect(after === undefined).toBe(pages === 2);
    }
    expect(seen).toEqual(["b", "e", "d", "c", "a"]);
    const forged = place.directory.list({ account }, { limit: 2, after: "bm90IGEgcGFnZQ" });
    await expect(forged).rejects.toMatchObject({ code: "invalid_input", details: { field: "after" } });
  });

  it("knows whether a thread runs, waits, failed or rests", async () => {
    for (const [id, status] of [
      ["rests", "idle"],
      ["asks", "waiting"],
      ["broke", "error"],
    ] as const) {
      await place.directory.runEnded({ thread: thread(id), token: await started(thread(id)), status });
    }
    await started(thread("runs"));
    expect(await names({ status: "running" })).toEqual(["runs"]);
    expect(await names({ status: "waiting" })).toEqual(["asks"]);
    expect(await names({ status: "error" })).toEqual(["broke"]);
    expect(await names({ status: "idle" })).toEqual(["rests"]);
  });

  it("does not believe a writer that another has taken the place of", async () => {
    const old = await started(thread("a"));
    await started(thread("a"));
    await place.directory.runEnded({ thread: thread("a"), token: old, status: "error" });
    expect(await place.directory.find(thread("a"))).toMatchObject({ status: "running", token });
  });

  it("calls a thread by what was first said in it until a person names it", async () => {
    await started(thread("a"), { derivedTitle: "How are tides made?" });
    await started(thread("a"), { derivedTitle: "And now?" });
    expect(await place.directory.find(thread("a"))).toMatchObject({
      title: "How are tides made?",
      isTitledByPerson: false,
    });
    await place.directory.change(thread("a"), { title: "Tides" });
    await started(thread("a"), { derivedTitle: "More" });
    expect(await place.directory.find(thread("a"))).toMatchObject({ title: "Tides", isTitledByPerson: true });
    await place.directory.change(thread("a"), { title: null });
    expect(await place.directory.find(thread("a"))).toMatchObject({ title: "How are tides made?" });
  });

  it("searches titles and names in any case, and takes no character for more than itself", async () => {
    await started(thread("a"), { derivedTitle: "ÄPFEL für 100%" });
    await started(thread("b"), { derivedTitle: "Birnen", threadName: "Obst_Liste" });
    expect(await names({ search: "äpfel" })).toEqual(["a"]);
    expect(await names({ search: "100%" })).toEqual(["a"]);
    expect(await names({ search: "1%0" })).toEqual([]);
    expect(await names({ search: "obst_l" })).toEqual(["b"]);
    expect(await names({ search: "obstxl" })).toEqual([]);
    await place.directory.change(thread("b"), { title: "Quitten" });
    expect(await names({ search: "birnen" })).toEqual([]);
    expect(await names({ search: "QUITTEN" })).toEqual(["b"]);
    await place.directory.change(thread("b"), { title: null });
    expect(await names({ search: "birnen" })).toEqual(["b"]);
  });

  it("puts an archived thread aside, and a run does not bring it back", async () => {
    await started(thread("a"));
    await started(thread("b"));
    expect(await place.directory.change(thread("a"), { isArchived: true })).toMatchObject({
      isArchived: true,
    });
    await started(thread("a"));
    expect(await names({ isArchived: false })).toEqual(["b"]);
    expect(await names({ isArchived: true })).toEqual(["a"]);
    expect(await names()).toEqual(["a", "b"]);
    expect(await place.directory.change(thread("never"), { isArchived: true })).toBeUndefined();
  });

  it("lists agents apart, and nobody's threads to anybody else", async () => {
    await started(thread("a"), { graphId: "langgraph:poet" });
    await started(thread("b"));
    await started(thread("private", "ann"));
    expect(await names({ graphId: "langgraph:poet" })).toEqual(["a"]);
    expect(await names()).toEqual(["b", "a"]);
    expect(await names({}, "ann")).toEqual(["private"]);
    expect(await names({}, "bob")).toEqual([]);
    const all = await place.directory.list({ account, everySubject: true }, { limit: 10 });
    expect(all.threads).toHaveLength(3);
    expect((await place.directory.list({ account: "other" }, { limit: 10 })).threads).toEqual([]);
    expect(await place.directory.find({ ...thread("private"), subject: "bob" })).toBeUndefined();
  });

  it("forgets what is deleted, and a run that ends afterwards does not bring it back", async () => {
    const running = await started(thread("a"));
    await started(thread("b"));
    await started(thread("private", "ann"));
    await place.directory.deleteThread(thread("a"));
    await place.directory.runEnded({ thread: thread("a"), token: running, status: "idle" });
    expect(await names()).toEqual(["b"]);
    await place.directory.deleteAccount(account, "");
    expect(await names()).toEqual([]);
    expect(await names({}, "ann")).toEqual(["private"]);
    await place.directory.deleteAccount(account);
    expect(await names({}, "ann")).toEqual([]);
  });
});
