import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { expectTakeover } from "./graphs/takeover-law.js";
import { DEADLY_WORKSHOP, openWorkshopBooks, type WorkshopBooks } from "./graphs/workshop-books.js";
import { agentRoutes } from "./rig/agent-routes.js";
import { type RigPostgres, startPostgres } from "./rig/start-postgres.js";
import { type RigRedis, startRedis } from "./rig/start-redis.js";
import { type RigServer, type RigServerOptions, startServer } from "./rig/start-server.js";
import { messageLines } from "./stock/message-lines.js";
import { type ReturningClient, returningClient } from "./stock/returning-client.js";
import { threadEnvelopes } from "./thread-envelopes.js";

const LEASE_MS = 2_000;

describe.each(["PostgreSQL and Redis", "PostgreSQL alone"])("Two instances on %s", (stores) => {
  let postgres: RigPostgres;
  let redis: RigRedis | undefined;
  let books: WorkshopBooks;
  let a: RigServer;
  let b: RigServer;
  let options: RigServerOptions;

  beforeAll(async () => {
    postgres = await startPostgres();
    redis = stores === "PostgreSQL alone" ? undefined : await startRedis();
    const databaseUrl = await postgres.createDatabase();
    books = openWorkshopBooks(databaseUrl);
    options = {
      databaseUrl,
      ...(redis && { redisUrl: redis.url }),
      graphs: DEADLY_WORKSHOP,
      leaseMs: LEASE_MS,
      reapEveryMs: 200,
      env: { WORKSHOP_FOLDER: books.folder, THROUGHLINE_OFFLINE_PACE_MS: "40", WORKSHOP_TOOL_MS: "200" },
    };
    [a, b] = await Promise.all([startServer(options), startServer(options)]);
  });
  afterAll(async () => {
    await Promise.all([a?.stop(), b?.stop()]);
    await books?.close();
    await redis?.stop();
    await postgres?.stop();
  });

  let threadId: string;
  beforeEach(() => {
    threadId = randomUUID();
  });
  const client = ({ url }: RigServer) => returningClient("0.0.59", { url, agent: "workshop", threadId });

  /** Starts a run on A, and watches it on B from the moment its first text is there. */
  async function startOnA(): Promise<{
    starter: Promise<string>;
    watcher: ReturningClient;
    watched: Promise<string>;
  }> {
    const asking = client(a);
    asking.say("A door, please");
    const starter = asking.run();
    await asking.heard("TEXT_MESSAGE_CONTENT");
    const watcher = client(b);
    const watched = watcher.connect();
    await watcher.heard("TEXT_MESSAGE_CONTENT");
    return { starter, watcher, watched };
  }

  async function expectWhole(watcher: ReturningClient): Promise<void> {
    const checkpoint = await books.messages(threadId);
    expect(messageLines(watcher.messages)).toEqual(messageLines(checkpoint));
    const log = await threadEnvelopes(b.url, "workshop", threadId);
    expectTakeover({ log, checkpoint, marks: books.marks(threadId), isAnswered: false });
  }

  it("start on one, watch and stop on the other", async () => {
    const { starter, watcher, watched } = await startOnA();
    const answer = await agentRoutes(b.url).stop("workshop", threadId);
    expect(await answer.json()).toMatchObject({ stopped: true });
    expect(await Promise.all([starter, watched])).toEqual(["ended", "ended"]);
    const log = await threadEnvelopes(b.url, "workshop", threadId);
    expect(log.at(-1)).toMatchObject({ type: "run_end", attempt: 0, payload: { status: "cancelled" } });
    expect(messageLines(watcher.messages)).toEqual(messageLines(await books.messages(threadId)));
  });

  it("finish each other's runs when one is killed, before the eyes of who watches on the other", async () => {
    const { starter, watcher, watched } = await startOnA();
    await a.kill();
    expect(await starter).toBe("cut");
    // The same connection as before: no reconnect happened.
    expect(await watched).toBe("ended");
    expect(watcher.types.filter((type) => type === "RUN_STARTED")).toHaveLength(1);
    expect(watcher.types.filter((type) => type === "RUN_FINISHED")).toHaveLength(1);
    await expectWhole(watcher);
    await a.restart();
  });

  it("take over at once what one hands over that is shut down, and everybody who watched there hears of it", async () => {
    // It leases its runs for so long that only who gives them back can lose them.
    const leaving = await startServer({ ...options, leaseMs: 3_600_000 });
    const asking = client(leaving);
    asking.say("A door, please");
    const told = asking.run();
    await asking.heard("TEXT_MESSAGE_CONTENT");
    await leaving.stop();
    expect(await told).toBe("ended");
    expect(asking.types.at(-1)).toBe("RUN_ERROR");
    expect(await asking.connect(b.url)).toBe("ended");
    expect(asking.types.at(-1)).toBe("RUN_FINISHED");
    await expectWhole(asking);
  });

  it("refuse what one writes that was paused past its lease, while it goes on serving", async () => {
    // It finds out by its lease or by a write that is refused, whichever comes first: until a write did.
    for (let pauses = 0; pauses < 5 && (await metric(a, "appends_refused_total")) === 0; pauses += 1) {
      threadId = randomUUID();
      await pausePastLease();
    }
    expect(await metric(a, "appends_refused_total")).toBeGreaterThan(0);
    const later = client(a);
    expect(await later.connect()).toBe("ended");
    expect(messageLines(later.messages)).toEqual(messageLines(await books.messages(threadId)));
    expect(await later.answer("brass")).toBe("ended");
    expect(later.messages.at(-1)?.content).toBe("the door hangs and closes");
  });

  async function pausePastLease(): Promise<void> {
    const { starter, watcher, watched } = await startOnA();
    const left = await metric(a, "runs_ended_without_completion_total");
    a.pause();
    const before = await watched
      .then(() => threadEnvelopes(b.url, "workshop", threadId))
      // Whatever came of it: one that stands still could not be stopped either.
      .finally(() => a.resume());
    await eventually(async () =>
      expect(await metric(a, "runs_ended_without_completion_total")).toBe(left + 1),
    );
    expect(await starter).toBe("ended");
    await eventually(async () => expect(await metric(a, "active_runs")).toBe(0));
    expect(await threadEnvelopes(b.url, "workshop", threadId)).toEqual(before);
    await expectWhole(watcher);
  }
});

const eventually = (condition: () => Promise<void>) =>
  vi.waitFor(condition, { timeout: 30_000, interval: 50 });

/** The sum of a metric over its labels. */
async function metric({ url }: RigServer, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const lines = text.split("\n").filter((line) => line.startsWith(`throughline_${name}{`));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
}
