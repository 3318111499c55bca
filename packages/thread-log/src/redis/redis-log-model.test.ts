import { runLogModel } from "../conformance/run-log-model.js";
import { itNeeds } from "../testing/it-needs.js";
import { findMissingRedis } from "../testing/launch-redis.js";
import { openRedisFixture } from "../testing/redis-fixture.js";

const missing = findMissingRedis();
if (missing === undefined) {
  runLogModel("The Redis store", () => openRedisFixture(), { lanes: 3, scheduled: false, maxCommands: 8 });
} else itNeeds(missing)("The Redis store loses, doubles and reorders nothing", () => {});
