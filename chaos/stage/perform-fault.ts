import { setTimeout as delay } from "node:timers/promises";
import {
  type DatabaseStrike,
  exhaustedFor,
  killedFor,
  readOnlyFor,
  terminatedFor,
} from "../../e2e/outages/rig/strikes.js";
import { seededRandom } from "../../e2e/server/rig/seeded-random.js";
import type { Fault } from "../plan/fault-plan.js";
import type { ChaosStage } from "./chaos-stage.js";
import type { ChaosInstance } from "./instance.js";

/** How far a clock jumps at most, ahead or back. */
const CLOCK_JUMP_SECONDS = 2_700;
/** Of the clients' connections, those that are hit at once. */
const CLIENT_SHARE = 0.4;
const FLUSH_EVERY_MS = 100;
const START_TRIES = 3;

/** Breaks something, waits, and mends it. Resolves, when it is mended, with what it hit. */
export async function performFault(stage: ChaosStage, fault: Fault): Promise<string> {
  const { kind, ms, aim } = fault;
  const instance = stage.instances[Math.floor(aim * stage.instances.length)];
  if (!instance) throw new Error("The stage has no instances.");
  const strike = async (perform: DatabaseStrike) => {
    await perform(stage, () => {});
    return "database";
  };
  switch (kind) {
    case "kill":
      return killAndBringBack(instance, ms);
    case "pause":
      instance.server.pause();
      await delay(ms);
      instance.server.resume();
      return instance.name;
    case "deploy":
      for (const each of stage.instances) {
        await each.drain();
        await each.bringBack();
        await delay(ms);
      }
      return "all instances";
    case "clockJump":
      return jumpClock(instance, fault);
    case "databaseKill":
      return strike(killedFor(ms));
    case "databaseTerminate":
      return strike(terminatedFor(ms, Math.floor(aim * 1_000)));
    case "databaseReadOnly":
      return strike(readOnlyFor(ms));
    case "databaseFull":
      return strike(exhaustedFor(ms));
    case "databaseHalfOpen":
      return halfOpen(instance.name, instance.database.freeze(), ms);
    case "databaseSwallow":
      return halfOpen(instance.name, instance.database.swallow(), ms);
    case "databaseCut":
      instance.database.cut();
      return instance.name;
    case "standbyPause":
      await stage.replica?.pauseFor(ms);
      return "standby";
    case "failover":
      await strike(stage.replica?.failOver ?? (async () => {}));
      await stage.replica?.prepare(stage.cluster);
      return "database";
    case "redisKill":
      await stage.redis.kill();
      await delay(ms);
      await stage.redis.restart();
      return "redis";
    case "redisPause":
      stage.redis.pause();
      await delay(ms);
      stage.redis.resume();
      return "redis";
    case "redisFlush":
      for (const until = performance.now() + ms; performance.now() < until; await delay(FLUSH_EVERY_MS))
        await stage.redis.ask("FLUSHALL");
      return "redis";
    case "redisSwallow":
      return halfOpen(instance.name, instance.redis.swallow(), ms);
    case "litellmKill":
      await stage.litellm?.litellm.kill();
      await delay(ms);
      await startAgain(() => stage.litellm?.litellm.start());
      return "litellm";
    case "litellmCut":
      instance.litellm?.cut();
      return instance.name;
    case "litellmSwallow":
      return halfOpen(instance.name, instance.litellm?.swallow() ?? (() => {}), ms);
    case "clientCut":
      stage.front.cut(someOf(aim));
      return "clients";
    case "clientHalfOpen":
      return halfOpen("clients", stage.front.freeze(someOf(aim)), ms);
    case "clientSwallow":
      return halfOpen("clients", stage.front.swallow(someOf(aim)), ms);
  }
}

/** Picks some of the clients' connections, the same ones for the same aim. */
function someOf(aim: number): () => boolean {
  const random = seededRandom(Math.floor(aim * 2 ** 31));
  return () => random() < CLIENT_SHARE;
}

/** A busy machine may take longer to start LiteLLM than one start is given. */
async function startAgain(start: () => Promise<void> | undefined): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await start();
    } catch (error) {
      if (tries === START_TRIES) throw error;
    }
  }
}

async function killAndBringBack(instance: ChaosInstance, ms: number): Promise<string> {
  await instance.kill();
  await delay(ms);
  await instance.bringBack();
  return instance.name;
}

async function jumpClock(instance: ChaosInstance, { aim, ms }: Fault): Promise<string> {
  const seconds = Math.round((((aim * 1_000) % 1) * 2 - 1) * CLOCK_JUMP_SECONDS);
  instance.clock?.jumpTo(seconds);
  await delay(ms);
  instance.clock?.jumpTo(0);
  return `${instance.name} by ${seconds} s`;
}

async function halfOpen(hit: string, mend: () => void, ms: number): Promise<string> {
  await delay(ms);
  mend();
  return hit;
}
