import { expect } from "vitest";
import { fenceOf, newThread, notes, runEnd, textsOf, write } from "../conformance/log-scene.js";
import { createThreadLog } from "../log/create-thread-log.js";
import { openPostgres } from "../postgres/open-postgres.js";
import { createPostgresLogStore } from "../postgres/postgres-log-store.js";
import { itNeeds } from "../testing/it-needs.js";
import { findMissingRedis } from "../testing/launch-redis.js";
import { openRedisFixture } from "../testing/redis-fixture.js";
import { settleLogHome } from "./settle-log-home.js";

itNeeds(findMissingRedis())("a log that moves to Redis and back announces what stayed behind", async () => {
  const fixture = await openRedisFixture();
  const database = await openPostgres({ connection: fixture.databaseUrl });
  const thread = newThread();
  const fence = fenceOf(thread, 1);
  const heads: unknown[] = [];
  try {
    expect(await settleLogHome(database, "postgres")).toBe(false);
    const first = createThreadLog({ store: createPostgresLogStore(database) });
    await write(first, thread, ["a", "b"]);
    const inPostgres = await first.head(thread);
    heads.push(inPostgres);

    expect(await settleLogHome(database, "redis")).toBe(true);
    const second = createThreadLog({ store: await fixture.openStore() });
    await write(second, thread, ["c"]);
    await second.append(thread, [runEnd(thread, "run-1"), ...notes(thread, "d")], fence);
    const inRedis = await second.head(thread);
    heads.push(inRedis);
    expect(await second.read(thread, inPostgres)).toMatchObject({ kind: "gap", reason: "epoch" });
    await second.close();

    expect(await settleLogHome(database, "postgres")).toBe(true);
    expect(await settleLogHome(database, "postgres")).toBe(false);
    const third = createThreadLog({ store: createPostgresLogStore(database) });
    await write(third, thread, ["e"]);
    const back = await third.head(thread);
    for (const old of [inPostgres, inRedis]) {
      expect(await third.read(thread, old)).toMatchObject({ kind: "gap", reason: "epoch", head: back });
    }
    const rest = await third.read(thread, { epoch: back?.epoch ?? "", seq: (back?.seq ?? 0) - 1 });
    expect(rest.kind === "entries" && textsOf(rest.entries)).toEqual(["e"]);
    expect(await third.terminal(thread, "run-1")).toMatchObject({ envelope: { type: "run_end" } });
  } finally {
    await database.close();
    await fixture.close();
  }
});
