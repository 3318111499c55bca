// @ts-check
// Tests of statements that are no conformance cases, with the statements recorded or one of them mutated.
import { defineConfig } from "vitest/config";
import { BaseSequencer } from "vitest/node";

/** The quickest first: the first that fails is the last that runs. */
const FILES = [
  "src/postgres/waiting-statements.test.ts",
  "src/postgres/lock-order.test.ts",
  "src/postgres/template-rows.test.ts",
  "src/postgres/neighbour-rows.test.ts",
  "src/postgres/aging-threads.test.ts",
  "src/postgres/unstarted-threads.test.ts",
  "src/thread-directory.test.ts",
  "src/postgres/run-statements.test.ts",
  "src/postgres/log/postgres-compaction.test.ts",
  "src/postgres/leave-redis-home.test.ts",
  "src/postgres/locked-threads.test.ts",
  "src/postgres/log/retain-entries.test.ts",
  "src/postgres/rolling-upgrade.test.ts",
  "src/postgres/open-postgres.test.ts",
  "src/postgres/connection/cluster-identity.test.ts",
];

class InOrder extends BaseSequencer {
  /** @type {BaseSequencer["sort"]} */
  async sort(files) {
    const place = (/** @type {{ moduleId: string }} */ { moduleId }) =>
      FILES.findIndex((file) => moduleId.endsWith(file));
    return [...files].sort((a, b) => place(a) - place(b));
  }
}

export default defineConfig({
  root: new URL("../../..", import.meta.url).pathname,
  test: {
    include: FILES.map((file) => `packages/thread-log/${file}`),
    setupFiles: ["packages/thread-log/src/testing/mutants/apply-mutant.ts", "scripts/test-setup.ts"],
    env: { THROUGHLINE_SEED: "1" },
    testTimeout: 30_000,
    hookTimeout: 30_000,
    isolate: false,
    fileParallelism: false,
    sequence: { sequencer: InOrder },
  },
});
