import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, vi } from "vitest";
import { itNeeds } from "../../packages/embedded-postgres/src/testing/it-needs.js";
import {
  isType,
  readEvents,
  type SseEvent,
  typesOf,
} from "../../packages/langgraph-server/src/testing/sse-events.js";
import {
  type DebianPostgres,
  findMissingDebianPostgres,
  launchDebianPostgres,
} from "../../packages/thread-log/src/testing/launch-debian-postgres.js";
import { agentRoutes } from "../server/rig/agent-routes.js";
import { QUESTIONS } from "../server/rig/questions.js";
import { type RigServer, startServer } from "../server/rig/start-server.js";
import { type Backup, countTables, takeBackup } from "./rig/backup.js";
import { firstDifference } from "./rig/frames-law.js";
import { type Ask, researcherThread } from "./rig/researcher-thread.js";
import { isTerminal, openViewer, type Viewer } from "./rig/viewer.js";

/** Slow enough to be in the middle of a run while its database is dumped. */
const PACE_MS = 60;
const PICTURE = Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), Buffer.alloc(20_000, 7)]);
const missing = findMissingDebianPostgres();

const servers: RigServer[] = [];
const postgres: DebianPostgres[] = [];
beforeAll(async () => {
  if (missing === undefined) postgres.push(await launchDebianPostgres(), await launchDebianPostgres());
}, 60_000);
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.kill()));
});
afterAll(async () => {
  await Promise.all(postgres.splice(0).map((each) => each.stop()));
});

async function start(databaseUrl: string): Promise<RigServer> {
  const server = await startServer({
    databaseUrl,
    leaseMs: 2_000,
    reapEveryMs: 200,
    env: { THROUGHLINE_OFFLINE_PACE_MS: String(PACE_MS) },
  });
  servers.push(server);
  return server;
}

const askOf =
  (server: RigServer): Ask =>
  (path, init) =>
    fetch(`${server.url}${path}`, init);

async function get(server: RigServer, path: string): Promise<unknown> {
  const response = await fetch(`${server.url}${path}`);
  expect(response.status, path).toBe(200);
  return response.json();
}

async function runToEnd(server: RigServer, agent: string, threadId: string, content: unknown) {
  const messages = [{ id: randomUUID(), role: "user", content }];
  return readEvents(await agentRoutes(server.url).run(agent, { threadId, messages }));
}

const lastId = (events: readonly SseEvent[]) => events.findLast(({ id }) => id !== undefined)?.id ?? "";
const epochOf = (id: string) => id.split(".")[0];
/** Without the epoch, which a restore renews. */
const withoutEpoch = (events: readonly SseEvent[]) =>
  events.map(({ id, data }) => ({ at: id?.split(".").slice(1), data }));

async function gapsOf(server: RigServer): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return Number(/^throughline_gaps_total\S* (\d+)$/m.exec(text)?.[1] ?? 0);
}

function view(server: () => RigServer, thread: ReturnType<typeof researcherThread>): Viewer {
  return openViewer({
    isLast: (event) => isTerminal(event, thread.runId),
    open: (cursor, signal) => thread.follow(askOf(server()), cursor, signal),
  });
}

/** The service at work, as its database is dumped, and what its viewers hold of it. */
async function workAndDump(databaseUrl: string) {
  const server = await start(databaseUrl);
  const routes = agentRoutes(server.url);
  const poem = await runToEnd(server, "poet", "poem", QUESTIONS.poet);
  const picture = {
    type: "binary",
    mimeType: "image/png",
    data: PICTURE.toString("base64"),
    filename: "a.png",
  };
  await runToEnd(server, "chat", "picture", [{ type: "text", text: "Look." }, picture]);
  await runToEnd(server, "travel", "trip", QUESTIONS.travel);
  const cron = await fetch(`${server.url}/crons`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      agent: "poet",
      threadName: "daily",
      schedule: "0 5 1 1 *",
      input: { message: "rivers" },
    }),
  });
  expect(cron.ok).toBe(true);
  const running = researcherThread("research");
  const started = await running.run(askOf(server));
  const [early, late] = [view(() => server, running), view(() => server, running)];
  await early.seen(isType("TEXT_MESSAGE_CONTENT"));
  early.leave();
  // In the middle of the poem, and at its end.
  const middle = poem[Math.floor(poem.length / 2)]?.id ?? lastId(poem);
  const resumed = await Promise.all(
    [middle, lastId(poem)].map(async (cursor) => ({
      cursor,
      events: await readEvents(await routes.connect("poet", { threadId: "poem", lastSeenEventId: cursor })),
    })),
  );
  const states = await Promise.all(
    ["poet/threads/poem", "chat/threads/picture", "travel/threads/trip"].map(async (path) => ({
      path: `/agents/${path}/state`,
      state: await get(server, `/agents/${path}/state`),
    })),
  );
  const before = await countTables(databaseUrl);
  const backup = await takeBackup(databaseUrl);
  const after = await countTables(databaseUrl);
  const seenAtDump = late.connections.flat().length;
  await vi.waitUntil(() => late.connections.flat().length > seenAtDump + 5, { timeout: 30_000 });
  // Lost: a second poem, and what the researcher has said since.
  const second = await runToEnd(server, "poet", "poem", "a line about hills");
  await server.kill();
  late.leave();
  await started.body?.cancel().catch(() => {});
  return { backup, before, after, poem, second, resumed, states, running, early, late };
}

describe("A database is dumped while the service works, and restored into an empty one", () => {
  const dumps: Backup[] = [];
  afterEach(() => {
    for (const backup of dumps.splice(0)) backup.remove();
  });

  itNeeds(missing).each([
    ["of the same server", 0],
    ["of another server", 1],
  ])(
    "%s: what it holds goes on, and what it lost is never shown as something else",
    async (_, target) => {
      const [home, other] = [postgres[0]?.url ?? "", postgres[target]?.url ?? ""];
      const source = await emptyDatabase(home);
      const work = await workAndDump(source);
      dumps.push(work.backup);
      const url = await work.backup.restore(other);

      // Every table is there, with what it had while the dump was taken.
      const counts = await countTables(url);
      expect([...counts.keys()]).toEqual([...work.before.keys()]);
      for (const [table, count] of counts) {
        expect(count, table).toBeGreaterThanOrEqual(work.before.get(table) ?? 0);
        expect(count, table).toBeLessThanOrEqual(work.after.get(table) ?? 0);
      }
      const held = [
        "langgraph.checkpoints",
        "throughline.attachment_chunks",
        "throughline.crons",
        "throughline.runs",
      ];
      for (const table of held) expect(counts.get(table), table).toBeGreaterThan(0);

      const server = await start(url);
      const routes = agentRoutes(server.url);
      for (const { path, state } of work.states) expect(await get(server, path), path).toEqual(state);

      const named = /throughline:attachment\/([\w-]+)/.exec(JSON.stringify(work.states))?.[1];
      const file = await fetch(`${server.url}/agents/chat/threads/picture/attachments/${named}`);
      expect(Buffer.from(await file.arrayBuffer()).equals(PICTURE)).toBe(true);

      // Cursors from before the dump: the rest, and nothing else.
      for (const { cursor, events } of work.resumed) {
        const again = await readEvents(
          await routes.connect("poet", { threadId: "poem", lastSeenEventId: cursor }),
        );
        expect(withoutEpoch(again)).toEqual(withoutEpoch(events));
      }
      expect(await gapsOf(server)).toBe(0);

      // A cursor from after it: a full prelude of what is there, under ids that nothing had before.
      const newer = lastId(work.second);
      const reset = await readEvents(
        await routes.connect("poet", { threadId: "poem", lastSeenEventId: newer }),
      );
      expect(typesOf(reset)).toContain("MESSAGES_SNAPSHOT");
      expect(await gapsOf(server)).toBe(1);
      expect(epochOf(lastId(reset))).not.toBe(epochOf(newer));
      const anew = await runToEnd(server, "poet", "poem", "a line about hills");
      expect(epochOf(lastId(anew))).toBe(epochOf(lastId(reset)));
      const stillNewer = await readEvents(
        await routes.connect("poet", { threadId: "poem", lastSeenEventId: newer }),
      );
      expect(typesOf(stillNewer)).toContain("MESSAGES_SNAPSHOT");

      // The run that was under way is recovered, and ends; both of its viewers come back.
      const ask = askOf(server);
      const { running } = work;
      await vi.waitUntil(async () => (await running.shownRun(ask)).status === "success", { timeout: 60_000 });
      expect((await running.shownRun(ask)).attempt).toBeGreaterThan(0);
      const log = await running.readLog(ask);
      for (const [viewer, isExact] of [
        [work.early, true],
        [work.late, false],
      ] as const) {
        const cursor = lastId(viewer.connections.flat());
        const back = openViewer({
          isLast: (event) => isTerminal(event, running.runId),
          open: (at, signal) => running.follow(ask, at ?? cursor, signal),
        });
        await back.ended;
        back.leave();
        const frames = back.connections.flat();
        expect(typesOf(frames).includes("MESSAGES_SNAPSHOT") && lastIdIsWhole(frames), String(isExact)).toBe(
          !isExact,
        );
        const seen = isExact ? [...viewer.connections, ...back.connections] : back.connections;
        expect(firstDifference(seen, log, { mayRenewEpoch: true })).toBeUndefined();
      }

      // The question that waited is answered.
      const answer = { threadId: "trip", messages: [], forwardedProps: { command: { resume: "KLM" } } };
      expect(typesOf(await readEvents(await routes.run("travel", answer))).at(-1)).toBe("RUN_FINISHED");
      const { crons } = (await get(server, "/crons")) as { crons: readonly unknown[] };
      expect(crons).toHaveLength(1);
    },
    180_000,
  );
});

/** Whether a full prelude is among these frames: its cursor stands for a whole entry. */
function lastIdIsWhole(frames: readonly SseEvent[]): boolean {
  return frames.some(({ id }) => id?.split(".")[2] === "999999999");
}

async function emptyDatabase(server: string): Promise<string> {
  const { default: pg } = await import("pg");
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  const name = `work_${randomUUID().slice(0, 8)}`;
  await client.query(`create database ${name}`);
  await client.end();
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}
