import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { filesWithOwnProcess } from "./scripts/own-process.mjs";
import { TestOrder } from "./scripts/test-order.ts";
import { testSeed } from "./scripts/test-seed.mjs";

const include = [
  "packages/*/src/**/*.test.{ts,tsx}",
  "apps/*/src/**/*.test.{ts,tsx}",
  "boundaries/*.test.ts",
  "scripts/**/*.test.ts",
  "bench/**/*.test.ts",
  "patches/*/src/*.test.ts",
  "e2e/in-process/*.test.ts",
  "e2e/billing/*.test.ts",
  "e2e/bus/*.test.ts",
  "e2e/graphs/*.test.ts",
  "e2e/outages/**/*.test.ts",
  "e2e/web/*.test.ts",
  "chaos/**/*.test.ts",
];
const exclude = ["**/node_modules/**", "**/dist/**", "**/fixtures/**"];
const alone = filesWithOwnProcess(import.meta.dirname, [
  "packages",
  "apps",
  "boundaries",
  "scripts",
  "bench",
  "patches",
  "e2e",
  "chaos",
]);

const forEveryFile = {
  testTimeout: 30_000,
  hookTimeout: 30_000,
  // A condition that holds late is met late: a busy machine must not fail it. Chromium for one keeps the socket of a request that
  // was cut between its head and its body for five seconds.
  expect: { poll: { timeout: 15_000 } },
  setupFiles: ["scripts/test-setup.ts"],
  env: {
    // The offline model types as fast as it can.
    THROUGHLINE_OFFLINE_PACE_MS: "0",
    THROUGHLINE_SEED: process.env.THROUGHLINE_SEED ?? String(testSeed(import.meta.dirname)),
  },
};

export default defineConfig({
  test: {
    // Told here too for tools that read no projects.
    include,
    exclude,
    projects: [
      { test: { ...forEveryFile, name: "own process", include: alone, exclude, isolate: true } },
      {
        test: { ...forEveryFile, name: "shared", include, exclude: [...exclude, ...alone], isolate: false },
      },
    ],
    sequence: { sequencer: TestOrder },
    // Left alone, vitest keeps one core free, which on a machine with two is half of it.
    maxWorkers: Math.max(2, availableParallelism() - 1),
  },
});
