import { runRegistryConformance } from "../conformance/run-registry-conformance.js";
import { openPostgresRegistryFixture } from "../testing/postgres-registry-fixture.js";

runRegistryConformance("The PostgreSQL registry", () => openPostgresRegistryFixture());
