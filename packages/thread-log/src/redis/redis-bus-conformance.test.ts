import { afterAll } from "vitest";
import { itNeeds } from "../../../embedded-postgres/src/testing/it-needs.js";
import { runLogConformance } from "../conformance/run-log-conformance.js";
import { openBusFixture } from "../testing/bus-fixture.js";
import { findMissingRedis, launchRedis } from "../testing/launch-redis.js";

const missing = findMissingRedis();
if (missing === undefined) {
  const redis = await launchRedis();
  afterAll(() => redis.stop());
  runLogConformance("The PostgreSQL store with a bus", () => openBusFixture(redis.url));
} else itNeeds(missing)("The PostgreSQL store with a bus keeps what every log store promises", () => {});
