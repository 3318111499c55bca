import { describe, expect, it } from "vitest";
import { itNeeds } from "../testing/it-needs.js";
import { findMissingRedis, launchRedis } from "../testing/launch-redis.js";
import { findRedisProblems, problemsOf } from "./redis-settings.js";

describe("a Redis that is to hold logs", () => {
  it.each([
    [{ appendonly: "yes", "maxmemory-policy": "noeviction" }, []],
    [{ appendonly: "no", "maxmemory-policy": "noeviction" }, [/set appendonly yes/]],
    [{ appendonly: "yes", "maxmemory-policy": "allkeys-lru" }, [/may evict logs \(allkeys-lru\)/]],
    [{}, [/does not tell its settings/]],
  ])("is told what to change for %j", (settings, problems) => {
    expect(problemsOf(settings)).toEqual(problems.map((sentence) => expect.stringMatching(sentence)));
  });

  it("is told to be there", async () => {
    expect(await findRedisProblems("redis://127.0.0.1:1")).toEqual([
      expect.stringMatching(/check REDIS_URL/),
    ]);
  });

  itNeeds(findMissingRedis())("has nothing to change when it is as our own tests run it", async () => {
    const redis = await launchRedis();
    try {
      expect(await findRedisProblems(redis.url)).toEqual([]);
    } finally {
      await redis.stop();
    }
  });
});
