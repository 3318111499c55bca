import { runLogModel } from "../conformance/run-log-model.js";
import { openPostgresFixture } from "../testing/postgres-fixture.js";

runLogModel("The log on PostgreSQL", openPostgresFixture, {
  lanes: 2,
  scheduled: false,
  maxCommands: 8,
  cases: 200,
});
