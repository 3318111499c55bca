import { afterAll, beforeAll, describe, expect } from "vitest";
import { itNeeds } from "../../../embedded-postgres/src/testing/it-needs.js";
import { findMissingRedis, launchRedis, type OwnRedis } from "../testing/launch-redis.js";
import { findRedisProblems } from "./nodes.js";

const missing = findMissingRedis();
const itWithRedis = itNeeds(missing);

describe("what is wrong with a Redis", () => {
  let primary: OwnRedis;
  let replica: OwnRedis;
  beforeAll(async () => {
    if (missing !== undefined) return;
    primary = await launchRedis();
    replica = await launchRedis({ settings: { replicaof: `127.0.0.1 ${primary.port}` } });
  });
  afterAll(async () => {
    await Promise.all([replica?.stop(), primary?.stop()]);
  });

  itWithRedis("is nothing where one of its addresses is a primary", async () => {
    expect(await findRedisProblems(primary.url)).toEqual([]);
    expect(await findRedisProblems(`${replica.url},127.0.0.1:9,127.0.0.1:${primary.port}`)).toEqual([]);
  });

  itWithRedis("is that it is a replica, away, or answers nothing", async () => {
    expect(await findRedisProblems(replica.url)).toMatchObject([{ kind: "replica" }]);
    expect(await findRedisProblems("redis://127.0.0.1:9")).toMatchObject([{ kind: "unreachable" }]);
    replica.pause();
    expect(await findRedisProblems(replica.url)).toMatchObject([{ kind: "unreachable" }]);
    replica.resume();
  });

  itWithRedis("is that its user may not do what a bus does", async () => {
    await primary.send("ACL", "SETUSER", "guest", "on", ">word", "+@connection", "+info", "+role");
    const [problem] = await findRedisProblems(`redis://guest:word@127.0.0.1:${primary.port}`);
    expect(problem).toMatchObject({ kind: "forbidden" });
    const wrong = await findRedisProblems(`redis://guest:wrong@127.0.0.1:${primary.port}`);
    expect(wrong).toMatchObject([{ kind: "forbidden" }]);
    expect(JSON.stringify([problem, wrong])).not.toMatch(/word|wrong/);
  });
});
