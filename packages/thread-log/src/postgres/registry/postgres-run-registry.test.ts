import { neighbourCases } from "../../conformance/neighbour-cases.js";
import { runRegistryConformance } from "../../conformance/run-registry-conformance.js";
import { openPostgresRegistryFixture } from "../../testing/postgres-registry-fixture.js";
import { openTwinDatabase } from "../../testing/twin-database.js";

runRegistryConformance("The PostgreSQL registry", () => openPostgresRegistryFixture());

runRegistryConformance(
  "The PostgreSQL registry, where epochs and tokens are the same everywhere,",
  () => openPostgresRegistryFixture({ openDatabase: openTwinDatabase }),
  neighbourCases,
);
