// Tests of statements that are no conformance cases, with the statements recorded or one of them mutated.
import { defineConfig } from "vitest/config";

export default defineConfig({
  root: new URL("../../..", import.meta.url).pathname,
  test: {
    include: [
      "packages/thread-log/src/postgres/run-statements.test.ts",
      "packages/thread-log/src/postgres/waiting-statements.test.ts",
      "packages/thread-log/src/postgres/lock-order.test.ts",
      "packages/thread-log/src/postgres/template-rows.test.ts",
      "packages/thread-log/src/postgres/neighbour-rows.test.ts",
      "packages/thread-log/src/postgres/aging-threads.test.ts",
      "packages/thread-log/src/postgres/open-postgres.test.ts",
      "packages/thread-log/src/postgres/retain-entries.test.ts",
      "packages/thread-log/src/postgres/postgres-compaction.test.ts",
      "packages/thread-log/src/postgres/locked-threads.test.ts",
      "packages/thread-log/src/postgres/leave-redis-home.test.ts",
      "packages/thread-log/src/postgres/cluster-identity.test.ts",
      "packages/thread-log/src/postgres/rolling-upgrade.test.ts",
      "packages/thread-log/src/directory/thread-directory.test.ts",
    ],
    setupFiles: ["packages/thread-log/src/testing/mutants/apply-mutant.ts", "scripts/test-setup.ts"],
    env: { THROUGHLINE_SEED: "1" },
    testTimeout: 30_000,
    hookTimeout: 30_000,
    isolate: false,
    fileParallelism: false,
  },
});
