import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildChildProgram, type ChildProgram } from "../testing/child-program.js";
import { launchOwnPostgres, type OwnServer } from "../testing/own-postgres.js";
import {
  expectNothingLost,
  killDatabase,
  killWriter,
  overtakeWriter,
  type TrialSetting,
} from "./kill-trials.js";
import { announceRandom, trialsOf } from "./trial-count.js";
import { openTrialLog, type TrialLog } from "./trial-log.js";

describe("a log in PostgreSQL", () => {
  const trials = trialsOf(1 / 6);
  const timeout = 10_000 + 10_000 * trials;
  let postgres: OwnServer;
  let writer: ChildProgram;
  let observer: TrialLog;
  let setting: TrialSetting;

  beforeAll(async () => {
    [postgres, writer] = await Promise.all([
      launchOwnPostgres(),
      buildChildProgram(new URL("./append-until-killed.ts", import.meta.url)),
    ]);
    const store = { databaseUrl: postgres.url };
    observer = await openTrialLog(store);
    setting = {
      store,
      writer,
      observer,
      random: announceRandom("Kill trials on PostgreSQL"),
      killDatabase: async () => {
        await postgres.kill();
        await postgres.restart();
        expect(postgres.url).toBe(store.databaseUrl);
      },
    };
  });
  afterAll(async () => {
    await observer?.close();
    await postgres?.stop();
    writer?.remove();
  });

  it("loses nothing acknowledged when its writer is killed", { timeout }, async () => {
    for (let n = 0; n < trials; n++) await expectNothingLost(observer, await killWriter(setting));
  });

  it("loses nothing acknowledged when the database is killed under its writer", { timeout }, async () => {
    for (let n = 0; n < trials; n++) await expectNothingLost(observer, await killDatabase(setting));
  });

  it("refuses a writer that was taken over and does not know it", { timeout }, async () => {
    for (let n = 0; n < trials; n++) await expectNothingLost(observer, await overtakeWriter(setting));
  });
});
