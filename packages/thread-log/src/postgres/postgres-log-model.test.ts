import { runLogModel } from "../conformance/run-log-model.js";
import { openPostgresFixture } from "../testing/postgres-fixture.js";

runLogModel("The PostgreSQL store", openPostgresFixture, { lanes: 3, scheduled: false, maxCommands: 8 });
