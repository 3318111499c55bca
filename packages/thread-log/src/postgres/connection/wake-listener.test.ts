import { type Clock, systemClock } from "@throughline/ai-core";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { openPostgresFixture, type PostgresFixture } from "../../testing/postgres-fixture.js";
import { startStallingProxy } from "../../testing/stalling-proxy.js";
import { listenForNotifications, type NotificationListenerOptions } from "./notifications.js";

/** The wall clock without the listener's probes, which are 10 s apart. */
const WITHOUT_PROBES: Clock = {
  ...systemClock,
  schedule: (ms, work) => (ms >= 10_000 ? { cancel: () => {} } : systemClock.schedule(ms, work)),
};

describe("The listener's connection", () => {
  let fixture: PostgresFixture;
  beforeAll(async () => {
    fixture = await openPostgresFixture();
  });
  afterAll(() => fixture?.close());
  afterEach(() => vi.restoreAllMocks());

  function listen(options: Partial<NotificationListenerOptions> = {}) {
    return listenForNotifications({
      connection: { connectionString: fixture.url },
      channel: "listener_test",
      clock: WITHOUT_PROBES,
      statementMs: 5_000,
      onPayload: () => {},
      onReconnected: () => {},
      ...options,
    });
  }

  /** The most statements that one connection was asked for before it had answered. */
  function watchOverlaps(): () => number {
    const { query } = pg.Client.prototype;
    let [asked, most] = [0, 0];
    vi.spyOn(pg.Client.prototype, "query").mockImplementation(function (this: pg.Client, ...args: unknown[]) {
      asked += 1;
      most = Math.max(most, asked);
      return Promise.resolve(Reflect.apply(query, this, args)).finally(() => {
        asked -= 1;
      });
    });
    return () => most;
  }

  it("has one statement at a time, in the order they were asked for", async () => {
    const heard: string[] = [];
    const listener = await listen({ onPayload: (payload) => heard.push(payload) });
    const mostAtOnce = watchOverlaps();
    const [, , answer] = await Promise.all([
      listener.send("first"),
      listener.send("second"),
      listener.query<{ n: number }>("select 3 as n"),
    ]);
    expect(answer.rows).toEqual([{ n: 3 }]);
    expect(mostAtOnce()).toBe(1);
    await expect.poll(() => heard).toEqual(["first", "second"]);
    await listener.close();
  });

  it("goes on with the next statement after one that was refused", async () => {
    const listener = await listen();
    const refused = listener.query("select nonsense");
    const next = listener.query<{ n: number }>("select 2 as n");
    await expect(refused).rejects.toThrow("nonsense");
    expect((await next).rows).toEqual([{ n: 2 }]);
    await listener.close();
  });

  it("is replaced as soon as a statement has missed its deadline, and what waited behind that fails at once", async () => {
    const proxy = await startStallingProxy(fixture.url);
    const onReconnected = vi.fn();
    const listener = await listen({
      connection: { connectionString: proxy.url },
      statementMs: 200,
      onReconnected,
    });
    proxy.stallOpen();
    const lost = await Promise.allSettled([listener.send("lost"), listener.send("behind it")]);
    expect(lost.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await expect.poll(() => onReconnected.mock.calls.length).toBe(1);
    await listener.send("again");
    await listener.close();
    await proxy.stop();
  });
});
