import { StoreOutage } from "@throughline/ai-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  buildChildProgram,
  type ChildProgram,
} from "../../../embedded-postgres/src/testing/child-program.js";
import { fenceOf, newThread, notes, take, textsOf } from "../conformance/log-scene.js";
import type { AppendResult } from "../log/thread-log.js";
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

  it("keeps appends and tails waiting while the database is stopped, and closes without it", async () => {
    const thread = newThread();
    const fence = fenceOf(thread, 1);
    // Shorter than the outage: only reads are meant by it.
    const options = { patienceMs: 1_500, drainMs: 200 };
    const { log, close } = await openTrialLog(setting.store, options);
    const leaving = await openTrialLog(setting.store, options);
    await log.open(thread, fence);
    const tail = log.tail(thread, undefined)[Symbol.asyncIterator]();
    const texts = Array.from({ length: 60 }, (_, i) => `${i}`);
    const seen = take(tail, texts.length);
    const appends: Promise<AppendResult>[] = [];
    const append = (count: number) => {
      for (const text of texts.slice(appends.length, appends.length + count)) {
        appends.push(log.append(thread, notes(thread, text), fence));
      }
    };
    append(20);
    await postgres.kill();
    append(20);
    await expect(log.head(thread)).rejects.toBeInstanceOf(StoreOutage);
    const stranded = leaving.log.append(thread, notes(thread, "stranded"), fence);
    const refused = expect(stranded).rejects.toBeInstanceOf(StoreOutage);
    await leaving.close();
    await refused;
    await postgres.restart();
    append(20);
    const firsts = (await Promise.all(appends)).map((result) => result.ok && result.first);
    expect(firsts).toEqual(texts.map((_, i) => i + 1));
    expect(textsOf(await seen)).toEqual(texts);
    await tail.return?.();
    await close();
  });
});
