import { runLogConformance } from "../conformance/run-log-conformance.js";
import { openProcessFixture } from "../testing/process-bus-fixture.js";

runLogConformance("The PostgreSQL store with a bus between processes", openProcessFixture);
