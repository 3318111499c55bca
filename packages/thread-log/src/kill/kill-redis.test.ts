import { afterAll, beforeAll, describe, expect } from "vitest";
import { buildChildProgram, type ChildProgram } from "../testing/child-program.js";
import { itNeeds } from "../testing/it-needs.js";
import { findMissingRedis, type RedisOptions } from "../testing/launch-redis.js";
import { openRedisFixture, type RedisFixture } from "../testing/redis-fixture.js";
import {
  expectNothingLost,
  expectNothingSilent,
  killDatabase,
  killWriter,
  overtakeWriter,
  type TrialSetting,
} from "./kill-trials.js";
import { announceRandom, trialsOf } from "./trial-count.js";
import { openTrialLog, type TrialLog } from "./trial-log.js";

const itWithRedis = itNeeds(findMissingRedis());
const trials = trialsOf(1 / 12);
const timeout = 10_000 + 10_000 * trials;

let writer: ChildProgram;
beforeAll(async () => {
  writer = await buildChildProgram(new URL("./append-until-killed.ts", import.meta.url));
});
afterAll(() => writer?.remove());

/** `cut`: how much of the end of its file a killed Redis finds missing, as after a power cut. */
function prepare(options: RedisOptions, cut: (written: number) => number) {
  let fixture: RedisFixture;
  let observer: TrialLog;
  let setting: TrialSetting;
  beforeAll(async () => {
    fixture = await openRedisFixture(options);
    const { redis, databaseUrl } = fixture;
    const store = { databaseUrl, redisUrl: redis.url };
    observer = await openTrialLog(store);
    let before = 0;
    setting = {
      store,
      writer,
      observer,
      random: announceRandom(`Kill trials on Redis, appendfsync ${options.appendfsync}`),
      killDatabase: async () => {
        await redis.kill();
        const size = redis.fileSize();
        redis.truncateFile(size - cut(size - before));
        before = redis.fileSize();
        await redis.restart();
      },
    };
  });
  afterAll(async () => {
    await observer?.close();
    await fixture?.close();
  });
  return { setting: () => setting, observer: () => observer };
}

describe("a log in Redis with appendfsync always", () => {
  const { setting, observer } = prepare({ appendfsync: "always" }, () => 0);

  itWithRedis("loses nothing acknowledged when its writer is killed", { timeout }, async () => {
    for (let n = 0; n < trials; n++) await expectNothingLost(observer(), await killWriter(setting()));
  });

  itWithRedis("loses nothing acknowledged when Redis is killed under its writer", { timeout }, async () => {
    for (let n = 0; n < trials; n++) await expectNothingLost(observer(), await killDatabase(setting()));
  });

  itWithRedis("refuses a writer that was taken over and does not know it", { timeout }, async () => {
    for (let n = 0; n < trials; n++) await expectNothingLost(observer(), await overtakeWriter(setting()));
  });
});

describe("a log in Redis with appendfsync everysec", () => {
  const { setting, observer } = prepare({ appendfsync: "everysec" }, () => 0);

  itWithRedis("loses nothing acknowledged when its writer is killed", { timeout }, async () => {
    for (let n = 0; n < trials; n++) await expectNothingLost(observer(), await killWriter(setting()));
  });

  itWithRedis("loses nothing in silence when Redis is killed under its writer", { timeout }, async () => {
    for (let n = 0; n < trials; n++) await expectNothingSilent(observer(), await killDatabase(setting()));
  });
});

describe("a log in Redis with appendfsync everysec, when the power fails", () => {
  const { setting, observer } = prepare({ appendfsync: "everysec" }, (written) =>
    Math.min(written, 1 + setting().random.below(Math.max(1, written))),
  );

  itWithRedis("tells of what was lost by a new epoch and a gap", { timeout }, async () => {
    const outcomes: string[] = [];
    for (let n = 0; n < trials; n++) {
      outcomes.push(await expectNothingSilent(observer(), await killDatabase(setting())));
    }
    // Now and then the cut takes only what the writer was about to send again.
    expect(outcomes).toContain("lost");
  });
});
