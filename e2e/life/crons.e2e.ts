import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { isType, type SseEvent } from "../../packages/langgraph-server/src/testing/sse-events.js";
import { followThread, shownMessages } from "../server/follower.js";
import { agentRoutes } from "../server/rig/agent-routes.js";
import { type RigPostgres, startPostgres } from "../server/rig/start-postgres.js";
import { type RigServer, startServer } from "../server/rig/start-server.js";
import { eachTrial } from "../server/rig/trials.js";
import { threadEnvelopes } from "../server/thread-envelopes.js";

const TIMEOUT = 120_000;

/** As far as these tests read it. */
interface Tick {
  readonly id: string;
  readonly scheduledAt: string;
  readonly missed: number;
  readonly outcome: { readonly kind: string; readonly runId?: string };
  readonly runStatus: string | null;
}

let postgres: RigPostgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

const servers: RigServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

async function start(databaseUrl: string, paceMs: number): Promise<RigServer> {
  const server = await startServer({
    databaseUrl,
    leaseMs: 1_000,
    reapEveryMs: 200,
    env: { THROUGHLINE_OFFLINE_PACE_MS: String(paceMs) },
  });
  servers.push(server);
  return server;
}

async function ask<Answer>(server: RigServer, method: string, path: string, body?: object): Promise<Answer> {
  const response = await fetch(`${server.url}${path}`, {
    method,
    ...(body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path} gave ${response.status}: ${await response.text()}`);
  // A parsed boundary: what the route's own tests check.
  return (await response.json()) as Answer;
}

async function createCron(server: RigServer, cron: object): Promise<string> {
  const { id } = await ask<{ id: string }>(server, "POST", "/crons", cron);
  return id;
}

async function ticksOf(server: RigServer, id: string): Promise<readonly Tick[]> {
  const { ticks } = await ask<{ ticks: readonly Tick[] }>(server, "GET", `/crons/${id}/ticks?limit=100`);
  return ticks;
}

/** No tick is undelivered, no run of one goes on. */
async function settledTicks(server: RigServer, id: string): Promise<readonly Tick[]> {
  return vi.waitFor(
    async () => {
      const ticks = await ticksOf(server, id);
      const open = ticks.filter(
        ({ outcome, runStatus }) =>
          outcome.kind === "pending" || runStatus === "running" || runStatus === "queued",
      );
      expect(open).toEqual([]);
      return ticks;
    },
    { timeout: TIMEOUT, interval: 100 },
  );
}

/** One run per tick that started one, ended once, and no other run in the thread. */
async function expectEachOnce(server: RigServer, threadId: string, cronId: string, ticks: readonly Tick[]) {
  const started = ticks.filter(({ outcome }) => outcome.kind === "started");
  const runIds = started.map(({ outcome }) => outcome.runId);
  expect(new Set(runIds).size).toBe(runIds.length);
  const log = await threadEnvelopes(server.url, "poet", threadId);
  const starts = log.filter((entry) => entry.type === "run_start");
  // Killed before it could say that it began, a run says so when it is taken up.
  expect(new Set(starts.map(({ run_id }) => run_id))).toEqual(new Set(runIds));
  const attempts = starts.map(({ run_id, attempt }) => `${run_id} ${attempt}`);
  expect(new Set(attempts).size).toBe(attempts.length);
  for (const { payload } of starts) {
    expect(payload).toMatchObject({ started_by: { kind: "cron", id: cronId } });
  }
  const ends = log.filter((entry) => entry.type === "run_end").map(({ run_id }) => run_id);
  expect(ends.sort()).toEqual([...runIds].sort());
}

/** Every time on the schedule is a tick, or is counted as missed by the tick that came instead. */
function expectEveryTimeAccounted(ticks: readonly Tick[], everyMs: number): void {
  const inOrder = [...ticks].reverse();
  for (const [index, { scheduledAt, missed }] of inOrder.entries()) {
    const before = inOrder[index - 1];
    if (!before) continue;
    expect(Date.parse(scheduledAt) - Date.parse(before.scheduledAt)).toBe((missed + 1) * everyMs);
  }
}

describe("A cron", () => {
  it(
    "is watched live by somebody who only connected; killed in the middle, its run is finished once",
    async () => {
      const server = await start(await postgres.createDatabase(), 25);
      const threadId = `watched ${randomUUID()}`;
      const follower = await followThread(agentRoutes(server.url), "poet", threadId);
      const cronId = await createCron(server, {
        agent: "poet",
        threadName: threadId,
        schedule: "every 2 s",
        input: { message: "A line about rivers" },
      });
      const first = await follower.seen(isType("TEXT_MESSAGE_CONTENT"));
      await ask(server, "POST", `/crons/${cronId}/pause`);
      await server.kill();
      const before = follower.events.length;
      expect(follower.events.slice(follower.events.indexOf(first)).some(isType("RUN_FINISHED"))).toBe(false);
      await server.restart();
      await follower.reconnect(agentRoutes(server.url));
      await vi.waitFor(() => expect(follower.events.slice(before).some(isType("RUN_FINISHED"))).toBe(true), {
        timeout: TIMEOUT,
        interval: 20,
      });

      const ticks = await settledTicks(server, cronId);
      expect(ticks.map(({ outcome, runStatus }) => [outcome.kind, runStatus])).toEqual([
        ["started", "success"],
      ]);
      await expectEachOnce(server, threadId, cronId, ticks);
      const late = await followThread(agentRoutes(server.url), "poet", threadId);
      await late.seen(isType("RUN_FINISHED"));
      // A stock client checks each connection's frames as it applies them: the order of R13, and no run left open.
      const shown = await shownMessages(...late.connections);
      expect(shown).toHaveLength(2);
      expect(await shownMessages(...follower.connections)).toEqual(shown);
      // Ids concatenated over both connections never repeat: nothing was told twice.
      const ids = follower.events.flatMap(({ id }: SseEvent) => (id === undefined ? [] : [id]));
      expect(new Set(ids).size).toBe(ids.length);
      follower.leave();
      late.leave();
    },
    TIMEOUT,
  );

  it(
    "whose server is killed again and again loses no tick it claimed, and doubles none",
    () =>
      eachTrial(3, async (random) => {
        const server = await start(await postgres.createDatabase(), 5);
        const threadId = `killed ${randomUUID()}`;
        const cronId = await createCron(server, {
          agent: "poet",
          threadName: threadId,
          schedule: "every 1 s",
          overlap: "enqueue",
          missed: "run_once",
          input: { message: "A line about rivers" },
        });
        for (let kills = 0; kills < 4; kills += 1) {
          // The moment of a kill is what is tried here, not something waited for.
          await pause(1_500 * random());
          await server.kill();
          await server.restart();
        }
        await vi.waitFor(
          async () => expect((await ticksOf(server, cronId)).length).toBeGreaterThanOrEqual(4),
          {
            timeout: TIMEOUT,
            interval: 100,
          },
        );
        await ask(server, "POST", `/crons/${cronId}/pause`);
        const ticks = await settledTicks(server, cronId);
        expect(new Set(ticks.map(({ outcome, runStatus }) => `${outcome.kind} ${runStatus}`))).toEqual(
          new Set(["started success"]),
        );
        expectEveryTimeAccounted(ticks, 1_000);
        await expectEachOnce(server, threadId, cronId, ticks);
        await server.stop();
      }),
    3 * TIMEOUT,
  );

  it(
    "of two servers fires once a time, on whichever of them",
    async () => {
      const databaseUrl = await postgres.createDatabase();
      const [a, b] = await Promise.all([start(databaseUrl, 0), start(databaseUrl, 0)]);
      const threadId = `two ${randomUUID()}`;
      const cronId = await createCron(a, {
        agent: "poet",
        threadName: threadId,
        schedule: "* * * * * *",
        overlap: "enqueue",
        input: { message: "A line about rivers" },
      });
      await vi.waitFor(async () => expect((await ticksOf(b, cronId)).length).toBeGreaterThanOrEqual(8), {
        timeout: TIMEOUT,
        interval: 100,
      });
      await ask(b, "POST", `/crons/${cronId}/pause`);
      const ticks = await settledTicks(a, cronId);
      expectEveryTimeAccounted(ticks, 1_000);
      await expectEachOnce(b, threadId, cronId, ticks);
    },
    TIMEOUT,
  );
});
