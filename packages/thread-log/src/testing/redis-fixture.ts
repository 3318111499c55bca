import { openRedisBus, type RedisBus } from "../redis/open-redis-bus.js";
import { type BusFixture, openBusFixture } from "./bus-fixture.js";

/** Instances that Redis connects. `url`: of those that name no other. */
export function openRedisFixture(url?: string): Promise<BusFixture<RedisBus>> {
  return openBusFixture(
    (database, events, address) => openRedisBus({ url: address, database, ...events }),
    url,
  );
}
