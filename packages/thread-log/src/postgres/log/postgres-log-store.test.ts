import { runLogConformance } from "../../conformance/run-log-conformance.js";
import { openPostgresFixture } from "../../testing/postgres-fixture.js";

runLogConformance("The PostgreSQL store", openPostgresFixture);
