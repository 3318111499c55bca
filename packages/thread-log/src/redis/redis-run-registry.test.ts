import { runRegistryConformance } from "../conformance/run-registry-conformance.js";
import { itNeeds } from "../testing/it-needs.js";
import { findMissingRedis, launchRedis } from "../testing/launch-redis.js";
import { openPostgresRegistryFixture } from "../testing/postgres-registry-fixture.js";
import { openRedisLogStore, type RedisLogStore } from "./redis-log-store.js";

const missing = findMissingRedis();
if (missing === undefined) {
  runRegistryConformance("The registry beside a log in Redis", async () => {
    const redis = await launchRedis();
    const stores: RedisLogStore[] = [];
    return openPostgresRegistryFixture({
      elsewhere: {
        async openStore(database) {
          const store = await openRedisLogStore({ url: redis.url, database });
          stores.push(store);
          return store;
        },
        async close() {
          await Promise.all(stores.map((store) => store.close()));
          await redis.stop();
        },
      },
    });
  });
} else
  itNeeds(missing)("The registry beside a log in Redis keeps what every run registry promises", () => {});
