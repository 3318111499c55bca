import { runLogConformance } from "../conformance/run-log-conformance.js";
import { itNeeds } from "../testing/it-needs.js";
import { findMissingRedis } from "../testing/launch-redis.js";
import { openRedisFixture } from "../testing/redis-fixture.js";

const missing = findMissingRedis();
if (missing === undefined)
  runLogConformance("The Redis store", () => openRedisFixture(), { compacts: false });
else itNeeds(missing)("keeps what every log store promises", () => {});
