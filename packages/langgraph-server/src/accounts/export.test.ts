import { createHash, randomUUID } from "node:crypto";
import { createPostgresGraphStore, tenantStore } from "@throughline/graph-executor";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { CHUNK_BYTES } from "../attachments/attachment-store.js";
import type { ServiceStore } from "../server/create-service.js";
import { madeCall } from "../testing/made-call.js";
import { unpackTar } from "../testing/read-tar.js";
import { openServiceScene } from "../testing/service-scene.js";
import { readEvents, sseEvents, typesOf } from "../testing/sse-events.js";
import { tablesHolding } from "../testing/tables-holding.js";
import { openTestPostgres, type TestPostgres } from "../testing/test-postgres.js";
import { startTestServer, type TestServer } from "../testing/test-server.js";

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await openTestPostgres();
});
afterAll(() => postgres.close());
afterEach(() => vi.unstubAllEnvs());

const mark = () => `mark${randomUUID().replaceAll("-", "")}`;

/** Where rows of an account are, and the files of an archive that hold them. A table that is not here must be thought about. */
const HELD_IN: Readonly<Record<string, readonly string[]>> = {
  "throughline.threads": ["threads.jsonl"],
  "throughline.thread_listings": ["threads.jsonl"],
  "throughline.runs": ["runs.jsonl"],
  "throughline.interrupts": ["questions.jsonl"],
  "throughline.crons": ["crons.jsonl"],
  "throughline.attachments": ["files.jsonl"],
  "throughline.deletions": ["receipts.jsonl"],
  "throughline.audit": ["audit.jsonl"],
  "throughline.feedback": ["feedback.jsonl"],
  // Words of messages, which are in the threads' states and logs.
  "throughline.said": [],
  // Their contents are the files themselves.
  "throughline.attachment_chunks": [],
  // How many bytes the account's files have together.
  "throughline.attachment_usage": [],
  "langgraph.store": ["store.jsonl"],
  "throughline.usage_units": ["usage.jsonl"],
  // Their amounts are in the lines of their calls.
  "throughline.charge_receipts": [],
  // A stop of a run that is not there holds no more than the run's name, and expires.
  "throughline.stops": [],
};

describe.each([
  ["memory", (): ServiceStore => ({ kind: "memory" })],
  ["PostgreSQL", (): ServiceStore => ({ kind: "postgres", databaseUrl: postgres.url })],
])("An export of what is kept in %s", (_, storeOf) => {
  let server: TestServer;
  let store: ServiceStore;
  beforeAll(async () => {
    store = storeOf();
    server = await startTestServer({ store, leaseMs: 2_000 });
  });
  afterAll(() => server.close());

  function person(account: string, subject?: string) {
    const headers = {
      "x-throughline-account": account,
      ...(subject && { "x-throughline-subject": subject }),
    };
    async function ask(method: string, path: string, body?: string, type = "application/json") {
      return fetch(`${server.url}${path}`, {
        method,
        headers: { ...headers, ...(body !== undefined && { "content-type": type }) },
        ...(body !== undefined && { body }),
      });
    }
    const run = (agent: string, threadId: string, text: string) =>
      ask(
        "POST",
        `/api/copilotkit/agent/${agent}/run`,
        JSON.stringify({ threadId, messages: [{ id: randomUUID(), role: "user", content: text }] }),
      );
    return {
      ask,
      run,
      async archive(query = "") {
        const response = await ask("GET", `/account/export${query}`);
        expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/x-tar"]);
        return unpackTar(new Uint8Array(await response.arrayBuffer()));
      },
    };
  }

  const all = (files: ReadonlyMap<string, Buffer>) =>
    [...files].map(([path, content]) => `${path}\n${content.toString()}`).join("\n");
  const lines = (files: ReadonlyMap<string, Buffer>, path: string): unknown[] =>
    (files.get(path)?.toString() ?? "")
      .split("\n")
      .filter((line) => line !== "")
      .map((line): unknown => JSON.parse(line));

  it("holds every thread, run, question, cron, file and item of an account, and nothing of another", async () => {
    const account = `a-${randomUUID()}`;
    const marks = {
      said: mark(),
      name: mark(),
      title: mark(),
      cron: mark(),
      file: mark(),
      filename: mark(),
      item: mark(),
      subjects: mark(),
      foreign: mark(),
    };
    const owner = person(account);
    const ann = person(account, "ann");
    const stranger = person(`a-${randomUUID()}`);
    await readEvents(await owner.run("poet", marks.name, `A poem about ${marks.said}`));
    await readEvents(await owner.run("travel", "trip", "from Amsterdam to San Francisco"));
    await readEvents(await ann.run("poet", "hers", `A poem about ${marks.subjects}`));
    await readEvents(await stranger.run("poet", "theirs", `A poem about ${marks.foreign}`));
    const threadPath = `/agents/poet/threads/${marks.name}`;
    await owner.ask("PATCH", threadPath, JSON.stringify({ title: marks.title }));
    const upload = await owner.ask(
      "POST",
      `${threadPath}/attachments?filename=${marks.filename}.txt`,
      marks.file,
      "text/plain",
    );
    expect(upload.status).toBe(201);
    await owner.ask(
      "POST",
      "/crons",
      JSON.stringify({ agent: "poet", schedule: "every 1 h", input: { message: marks.cron } }),
    );
    await owner.ask("DELETE", "/agents/poet/threads/never");
    await madeCall(server.service.billing.ledger, { account, cost: "1" });
    if (store.kind === "postgres") {
      const graphStore = createPostgresGraphStore({ connectionString: postgres.url });
      await tenantStore(graphStore.store, { billingAccountId: account, subject: "ann" }).put(
        ["notes"],
        "one",
        {
          text: marks.item,
        },
      );
      await graphStore.close();
    }

    const files = await owner.archive();
    const { foreign, item, ...own } = marks;
    for (const [what, text] of Object.entries(own)) expect(all(files), what).toContain(text);
    expect(all(files)).not.toContain(foreign);
    const manifest = JSON.parse(files.get("manifest.json")?.toString() ?? "");
    expect(manifest).toMatchObject({
      account,
      subject: null,
      counts: { threads: 3, runs: 3, questions: 1, crons: 1, files: 1, receipts: 1, states: 3 },
    });
    expect(lines(files, "threads.jsonl")).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: marks.name, title: marks.title, subject: null }),
      ]),
    );
    for (const checksum of lines(files, "checksums.jsonl")) {
      const { path, sha256 } = Object(checksum);
      const content = files.get(path) ?? Buffer.alloc(0);
      expect(sha256, path).toBe(createHash("sha256").update(content).digest("hex"));
    }
    expect(lines(files, "checksums.jsonl")).toHaveLength(files.size - 2);

    if (store.kind === "postgres") {
      expect(all(files)).toContain(item);
      for (const table of await tablesHolding(postgres.url, [account])) {
        const held = HELD_IN[table];
        expect(
          held,
          `${table} holds the account's name, and no file of the archive is made of it`,
        ).toBeDefined();
        for (const path of held ?? []) expect(files.has(path), path).toBe(true);
      }
      const threadIds = lines(files, "threads.jsonl").map((row) => String(Object(row).threadId));
      expect(
        (await tablesHolding(postgres.url, threadIds)).filter((table) => table.startsWith("langgraph.")),
      ).toEqual(expect.arrayContaining(["langgraph.checkpoints"]));
      for (const id of threadIds) expect(files.has(`threads/${id}/state.json`)).toBe(true);
    }

    const hers = await ann.archive();
    expect(all(hers)).toContain(marks.subjects);
    for (const text of [marks.said, marks.name, marks.title, marks.cron, marks.file]) {
      expect(all(hers)).not.toContain(text);
    }
    expect(all(await owner.archive("?subject=ann"))).toContain(marks.subjects);
    expect((await ann.ask("GET", "/account/export?subject=bob")).status).toBe(403);
    expect((await stranger.ask("GET", `/account/export?accountId=${account}`)).status).toBe(403);
  });

  it("holds model calls with what they cost, and of their keys no more than the name", async () => {
    const account = `a-${randomUUID()}`;
    const { ledger } = server.service.billing;
    const ofAnn = await madeCall(ledger, { account, subject: "ann", cost: "0.1" });
    const inDoubt = await madeCall(ledger, { account, subject: "ann" });
    const ofBob = await madeCall(ledger, { account, subject: "bob", cost: "0.2" });
    const shared = await madeCall(ledger, { account, cost: "0.3" });
    await madeCall(ledger, { account: `a-${randomUUID()}`, subject: "ann", cost: "0.4" });
    const idsIn = (files: ReadonlyMap<string, Buffer>) =>
      lines(files, "usage.jsonl").map((row) => Object(row).unitId);
    const whole = await person(account).archive();
    expect(idsIn(whole).sort()).toEqual([ofAnn, inDoubt, ofBob, shared].sort());
    const hers = await person(account, "ann").archive();
    expect(idsIn(hers).sort()).toEqual([ofAnn, inDoubt].sort());
    expect(lines(hers, "usage.jsonl")).toContainEqual(
      expect.objectContaining({ unitId: ofAnn, state: "settled", cost: "0.1", model: "cheap" }),
    );
    expect(lines(hers, "usage.jsonl")).toContainEqual(
      expect.objectContaining({ unitId: inDoubt, state: "in_doubt", cost: null }),
    );
    expect(all(whole)).not.toContain("hash-of-the-key");
    expect(JSON.parse(whole.get("manifest.json")?.toString() ?? "").counts.usage).toBe(4);
  });

  it("has the end of every branch of a thread that was run on from its past", async () => {
    const who = person(`a-${randomUUID()}`);
    const say = async (text: string, checkpointId?: string) => {
      const fork = checkpointId === undefined ? undefined : { checkpointId };
      const body = {
        threadId: "branched",
        messages: [{ id: randomUUID(), role: "user", content: text }],
        forwardedProps: { throughline: { fork } },
      };
      const answer = await who.ask("POST", "/api/copilotkit/agent/chat/run", JSON.stringify(body));
      expect(typesOf(await readEvents(answer)).at(-1)).toBe("RUN_FINISHED");
      const state = await who.ask("GET", "/agents/chat/threads/branched/state");
      const { checkpointId: end }: { checkpointId: string } = JSON.parse(await state.text());
      return end;
    };
    const base = await say("My name is Ada.");
    const left = await say("The abandoned branch");
    const alsoLeft = await say("The second abandoned branch", base);
    const newest = await say("The branch that goes on", base);
    const files = await who.archive();
    const [path = ""] = [...files.keys()].filter((name) => name.endsWith("/branches.jsonl"));
    expect(lines(files, path).map((checkpoint) => Object(checkpoint).checkpointId)).toEqual([alsoLeft, left]);
    expect(files.get(path)?.toString()).toContain("The abandoned branch");
    const state = JSON.parse(files.get(path.replace("branches.jsonl", "state.json"))?.toString() ?? "");
    expect(state.checkpointId).toBe(newest);
    expect(JSON.stringify(state)).not.toContain("abandoned");
    const manifest = JSON.parse(files.get("manifest.json")?.toString() ?? "");
    expect(manifest.counts).toMatchObject({ states: 1, branches: 2 });
  });

  it("is made while a run goes on: its log has no hole up to where it stood", async () => {
    vi.stubEnv("THROUGHLINE_OFFLINE_PACE_MS", "20");
    const who = person(`a-${randomUUID()}`);
    const running = sseEvents(await who.run("poet", "busy", "A long poem about rivers"));
    for await (const { data } of { [Symbol.asyncIterator]: () => ({ next: () => running.next() }) }) {
      if (data.type === "TEXT_MESSAGE_CONTENT") break;
    }
    const files = await who.archive();
    const [path] = [...files.keys()].filter((name) => name.endsWith("/log.jsonl"));
    const seqs = lines(files, path ?? "").map((entry) => Number(Object(entry).seq));
    expect(seqs.length).toBeGreaterThan(0);
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    for await (const _ of running);
  });

  it("that its reader leaves in the middle frees its permit", async () => {
    const account = `a-${randomUUID()}`;
    const who = person(account);
    const { store, limits } = server.service.attachments;
    const upload = await store.begin({ account, threadId: randomUUID() }, limits);
    await upload.reserve(48 * 1_048_576);
    for (let part = 0; part < 192; part += 1) await upload.write(new Uint8Array(CHUNK_BYTES));
    await upload.finish({ id: "large", mimeType: "text/plain", filename: undefined, isNamed: true });
    const leaving = new AbortController();
    const response = await fetch(`${server.url}/account/export`, {
      headers: { "x-throughline-account": account },
      signal: leaving.signal,
    });
    await response.body?.getReader().read();
    const refused = await who.ask("GET", "/account/export");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "5"]);
    leaving.abort();
    await vi.waitFor(
      async () => {
        const again = await who.ask("GET", "/account/export");
        await again.body?.cancel();
        expect(again.status).toBe(200);
      },
      { timeout: 10_000, interval: 100 },
    );
  });

  it("runs once at a time for an account, and frees its permit when its reader leaves", async () => {
    const who = person(`a-${randomUUID()}`);
    await readEvents(await who.run("poet", "one", "A poem about doors"));
    const first = await server.service.exports.open({ account: "held", subject: undefined });
    await expect(server.service.exports.open({ account: "held", subject: undefined })).rejects.toMatchObject({
      code: "rate_limited",
      details: { limit: "maxExports", max: 1 },
    });
    await who.archive();
    await first.cancel();
    await (await server.service.exports.open({ account: "held", subject: undefined })).cancel();
    await who.archive();
  });
});

it("An export of a thread whose log was trimmed has its whole conversation, and the log from its snapshot on", async () => {
  const scene = await openServiceScene({ retention: { maxEntries: 12 }, lingerMs: 0 });
  const thread = scene.thread("poet");
  await scene.run(thread, "Write about rain");
  await scene.run(thread, "Write about snow");
  await vi.waitFor(async () =>
    expect(await scene.service.log.read(thread.ref, undefined)).toMatchObject({ reason: "trimmed" }),
  );
  const archive = await new Response(
    await scene.service.exports.open({ account: thread.ref.account, subject: undefined }),
  ).arrayBuffer();
  const files = unpackTar(new Uint8Array(archive));
  const folder = `threads/${thread.ref.threadId}`;
  const state = JSON.parse(files.get(`${folder}/state.json`)?.toString() ?? "");
  expect(state.messages).toHaveLength(4);
  const head = await scene.service.log.head(thread.ref);
  const entries = (files.get(`${folder}/log.jsonl`)?.toString() ?? "").trim().split("\n");
  expect(JSON.parse(entries.at(-1) ?? "").seq).toBe(head?.seq);
  await scene.close();
});
