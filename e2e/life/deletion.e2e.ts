import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deriveThreadId } from "@throughline/ai-core";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import {
  readEvents,
  type SseEvent,
  sseEvents,
} from "../../packages/langgraph-server/src/testing/sse-events.js";
import { type AgentRoutes, agentRoutes, said } from "../server/rig/agent-routes.js";
import { type RigPostgres, startPostgres } from "../server/rig/start-postgres.js";
import { type RigRedis, startRedis } from "../server/rig/start-redis.js";
import { type RigServer, startServer } from "../server/rig/start-server.js";
import { type Places, placesHolding } from "./places-holding.js";

const GRAPHS = new URL("./chronicler.ts", import.meta.url);
const THREADS = 50;
const POEMS = 10;
const LEASE_MS = 2_000;
const TIMEOUT = 480_000;

let postgres: RigPostgres;
let redis: RigRedis;
beforeAll(async () => {
  [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
});
afterAll(async () => {
  await Promise.all([postgres.stop(), redis.stop()]);
});

const servers: RigServer[] = [];
const folders: string[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

async function start({ databaseUrl, redisUrl, folder }: Places): Promise<RigServer> {
  const server = await startServer({
    databaseUrl,
    ...(redisUrl !== undefined && { redisUrl }),
    graphs: GRAPHS,
    leaseMs: LEASE_MS,
    reapEveryMs: 200,
    env: {
      THROUGHLINE_OFFLINE_PACE_MS: "250",
      THROUGHLINE_MAX_CONCURRENT_RUNS: "200",
      ...(folder !== undefined && { THROUGHLINE_ATTACHMENTS_DIR: folder }),
    },
  });
  servers.push(server);
  return server;
}

function as(account: string) {
  return { "x-throughline-account": account };
}

/** As far as these tests read it. */
interface Audited {
  readonly action: string;
  readonly route: string;
}

interface Receipt {
  readonly id: string;
  readonly status: string;
  readonly counts: { readonly threads: number };
}

async function ask<Answer>(
  server: RigServer,
  account: string,
  method: string,
  path: string,
  body?: object,
): Promise<Answer> {
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: { ...as(account), ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path} gave ${response.status}: ${await response.text()}`);
  // A parsed boundary: what the routes' own tests check.
  return (await response.json()) as Answer;
}

/** A run that has begun to say something. What comes after that is read too; a connection that breaks just ends. */
async function begin(routes: AgentRoutes, agent: string, threadId: string, text: string, account: string) {
  const input = { threadId, messages: [said(randomUUID(), text)] };
  const response = await routes.run(agent, input, as(account));
  const events: SseEvent[] = [];
  let speak = () => {};
  const speaking = new Promise<void>((resolve) => {
    speak = resolve;
  });
  const ended = (async () => {
    for await (const event of sseEvents(response)) {
      events.push(event);
      if (String(event.data.type).startsWith("TEXT_MESSAGE")) speak();
    }
  })()
    .catch(() => {})
    .finally(speak);
  await speaking;
  return { events, ended };
}

const isStreaming = ({ events }: { readonly events: readonly SseEvent[] }) =>
  !events.some(({ data }) => data.type === "RUN_FINISHED");

/** A poem is over in seconds; a chronicle goes on for half a minute, and one at length until it is stopped. */
const agentOf = (index: number) => (index % 6 === 0 ? "poet" : "chronicler");

/** Every kind of thing an account can have, with the mark in all of it. What takes time comes before the runs. */
async function fill(server: RigServer, account: string, mark: string, { count = 4, wish = "Write about" }) {
  const routes = agentRoutes(server.url);
  const names = Array.from({ length: count }, (_, index) => `${mark} thread ${index}`);
  await ask(server, account, "POST", "/crons", {
    agent: "chronicler",
    schedule: "every 1 s",
    input: { message: `${mark} cron` },
  });
  const path = `/agents/poet/threads/${encodeURIComponent(`${mark} thread 0`)}`;
  const upload = await fetch(`${server.url}${path}/attachments?filename=${mark}.txt`, {
    method: "POST",
    headers: { ...as(account), "content-type": "text/plain" },
    body: `${mark} `.repeat(100),
  });
  expect(upload.status).toBe(201);
  await vi.waitFor(
    async () => {
      const { crons } = await ask<{ crons: { lastTick?: { outcome: { kind: string } } }[] }>(
        server,
        account,
        "GET",
        "/crons",
      );
      expect(crons[0]?.lastTick?.outcome.kind).toBe("started");
    },
    { timeout: 20_000, interval: 100 },
  );
  const runs = await Promise.all(
    names.map((name, index) => begin(routes, agentOf(index), name, `${wish} ${mark}`, account)),
  );
  await ask(server, account, "PATCH", path, { title: `${mark} title` });
  return runs;
}

async function statusOf(server: RigServer, account: string, id: string): Promise<string> {
  return (await ask<Receipt>(server, account, "GET", `/account/deletions/${id}`)).status;
}

async function phaseOf({ databaseUrl }: Places, id: string): Promise<string | undefined> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ phase: string }>(
      "select phase from throughline.deletions where deletion_id = $1",
      [id],
    );
    return rows[0]?.phase;
  } finally {
    await client.end();
  }
}

const inPostgres = async (): Promise<Places> => ({ databaseUrl: await postgres.createDatabase() });
const everywhere = async (): Promise<Places> => {
  const folder = mkdtempSync(join(tmpdir(), "throughline-files-"));
  folders.push(folder);
  return { databaseUrl: await postgres.createDatabase(), redisUrl: redis.url, folder };
};

describe.each([
  ["PostgreSQL", inPostgres, 1, false],
  ["PostgreSQL, Redis and a folder, by two instances,", everywhere, 2, false],
  ["PostgreSQL, Redis and a folder, by instances that are killed in the middle,", everywhere, 2, true],
] as const)("An account kept in %s", (_, placesOf, instances, killed) => {
  it(
    `that is deleted while ${THREADS} of its threads stream leaves no byte, and another account is untouched`,
    async () => {
      const places = await placesOf();
      const server = await start(places);
      const asked = instances === 2 ? await start(places) : server;
      const id = randomUUID().replaceAll("-", "");
      const [mark, otherMark] = [`gone${id}`, `kept${id}`];
      const [leaver, stayer] = [`leaver-${id}`, `stayer-${id}`];
      const runs = await fill(server, leaver, mark, {
        count: THREADS + POEMS,
        wish: "Write at length about",
      });
      const others = await fill(server, stayer, otherMark, {});
      const before = await placesHolding(places, mark);
      expect(before).toEqual(
        expect.arrayContaining(["langgraph.checkpoint_blobs", "langgraph.store", "throughline.runs"]),
      );
      // Entries pass through Redis, and nothing of them stays there.
      expect(before).not.toContain("redis");
      if (places.folder !== undefined)
        expect(before.some((name) => name.startsWith(places.folder ?? ""))).toBe(true);
      const streaming = runs.filter(isStreaming);
      expect(streaming.length).toBeGreaterThanOrEqual(THREADS);
      // A poem may be over on a machine that is slow to look.
      const goingOn = others.filter(isStreaming).map(({ events }) => ({ events, heard: events.length }));
      expect(goingOn.length).toBeGreaterThan(0);

      const { id: receiptId, status } = await ask<Receipt>(asked, leaver, "DELETE", "/account/data");
      expect(status).toBe("deleting");
      if (killed) {
        await Promise.all(servers.map((one) => one.kill()));
        expect(await phaseOf(places, receiptId)).toBe("erasing");
        await Promise.all(servers.map((one) => one.restart()));
      } else {
        await Promise.all(streaming.map(({ ended }) => ended));
        const lastWords = streaming.map(({ events }) => events.at(-1)?.data ?? {});
        // A poem that was at its end anyway may have been quicker.
        const told = lastWords.filter(({ type }) => type !== "RUN_FINISHED");
        expect(told.length).toBeGreaterThanOrEqual(THREADS);
        for (const last of told) expect(last).toMatchObject({ type: "RUN_ERROR", code: "not_found" });
      }
      await vi.waitFor(async () => expect(await statusOf(asked, leaver, receiptId)).not.toBe("deleting"), {
        timeout: 60_000,
        interval: 100,
      });
      expect(await placesHolding(places, mark)).toEqual([]);
      await vi.waitFor(async () => expect(await statusOf(asked, leaver, receiptId)).toBe("done"), {
        timeout: 60_000,
        interval: 100,
      });
      expect(await placesHolding(places, mark)).toEqual([]);

      // A tombstone, a receipt and the audit record know whose they are, and a tombstone the id that was derived from a name.
      const known = (await placesHolding(places, leaver)).filter((place) => place !== "throughline.audit");
      expect(known).toEqual(["throughline.deletions", "throughline.threads"]);
      // An instance that is killed may take the entry with it.
      const { entries } = await ask<{ entries: readonly Audited[] }>(asked, leaver, "GET", "/audit");
      const deletion = { action: "delete_data", route: "DELETE /account/data" };
      expect(entries).toMatchObject(killed && entries.length === 0 ? [] : [deletion]);
      const threadId = deriveThreadId({ account: leaver, graphName: "poet", threadName: `${mark} thread 0` });
      expect(await placesHolding(places, threadId)).toEqual(["throughline.threads"]);

      const receipt = await ask<Receipt>(asked, leaver, "GET", `/account/deletions/${receiptId}`);
      expect(receipt).toMatchObject({ what: "account", askedBy: leaver });
      expect(receipt.counts.threads).toBeGreaterThanOrEqual(killed ? 1 : THREADS);
      const { threads } = await ask<{ threads: unknown[] }>(server, stayer, "GET", "/agents/poet/threads");
      expect(threads).toHaveLength(1);
      if (!killed) {
        for (const { events, ended } of others) {
          await ended;
          expect(events.at(-1)?.data.type).toBe("RUN_FINISHED");
        }
        for (const { events, heard } of goingOn) expect(events.length).toBeGreaterThan(heard);
      }
      await vi.waitFor(
        async () => {
          for (const index of [0, 1, 2, 3]) {
            const name = encodeURIComponent(`${otherMark} thread ${index}`);
            const { runs: past } = await ask<{ runs: unknown[] }>(
              server,
              stayer,
              "GET",
              `/agents/${agentOf(index)}/threads/${name}/runs`,
            );
            expect(past).toMatchObject([{ status: "success" }]);
          }
        },
        { timeout: 60_000, interval: 200 },
      );
      expect(await placesHolding(places, otherMark)).toEqual(expect.arrayContaining(["langgraph.store"]));

      const anew = { threadId: `${mark} thread 0`, messages: [said("m1", "Write about oaks")] };
      const told = await readEvents(await agentRoutes(asked.url).run("poet", anew, as(leaver)));
      expect(told.at(-1)?.data.type).toBe("RUN_FINISHED");
      const name = encodeURIComponent(`${mark} thread 0`);
      const { messages } = await ask<{ messages: unknown[] }>(
        asked,
        leaver,
        "GET",
        `/agents/poet/threads/${name}/state`,
      );
      expect(messages).toHaveLength(2);
      for (const one of servers) expect(one.log()).not.toContain('"level":50');
    },
    TIMEOUT,
  );
});
