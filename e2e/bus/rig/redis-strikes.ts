import { setTimeout as delay } from "node:timers/promises";
import type { Strike } from "../../outages/rig/strikes.js";
import type { RigRedis } from "../../server/rig/start-redis.js";
import { untilBusIs } from "./bus-metrics.js";

/** A crash: connections break, and what it held is gone. */
export function killedFor(redis: RigRedis, ms: number): Strike {
  return async ({ instances }, onBroken) => {
    await redis.kill();
    await untilBusIs("away", instances);
    onBroken();
    await delay(ms);
    await redis.restart();
    await untilBusIs("connected", instances);
  };
}

/** Connections stay open, and nothing is answered. */
export function pausedFor(redis: RigRedis, ms: number): Strike {
  return async ({ instances }, onBroken) => {
    redis.pause();
    onBroken();
    await delay(ms);
    redis.resume();
    await untilBusIs("connected", instances);
  };
}

/** Again and again, so that it meets everything that is ever kept in it. */
export function flushedFor(redis: RigRedis, ms: number): Strike {
  const EVERY_MS = 100;
  return async (_, onBroken) => {
    onBroken();
    const until = performance.now() + ms;
    while (performance.now() < until) {
      await redis.ask("FLUSHALL");
      await delay(EVERY_MS);
    }
  };
}

/** The primary is made a replica of its replica, which takes messages and passes none on, and dies after a while. */
export function failedOver(primary: RigRedis, replica: RigRedis): Strike {
  const BOTH_MS = 3_000;
  return async ({ instances }, onBroken) => {
    await replica.ask("REPLICAOF", "NO", "ONE");
    await primary.ask("REPLICAOF", "127.0.0.1", String(replica.port));
    onBroken();
    await delay(BOTH_MS);
    await primary.kill();
    await untilBusIs("connected", instances);
  };
}
