import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { testSeed } from "./scripts/test-seed.mjs";

export default defineConfig({
  test: {
    include: [
      "packages/*/src/**/*.test.{ts,tsx}",
      "apps/*/src/**/*.test.{ts,tsx}",
      "boundaries/*.test.ts",
      "scripts/*.test.ts",
      "e2e/in-process/*.test.ts",
      "e2e/web/*.test.ts",
    ],
    exclude: ["**/node_modules/**", "**/dist/**", "**/fixtures/**"],
    // Left alone, vitest keeps one core free, which on a machine with two is half of it.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 30_000,
    hookTimeout: 30_000,
    setupFiles: ["scripts/seed-properties.ts"],
    env: {
      // The offline model types as fast as it can; nobody is watching.
      THROUGHLINE_OFFLINE_PACE_MS: "0",
      THROUGHLINE_SEED: process.env.THROUGHLINE_SEED ?? String(testSeed(import.meta.dirname)),
    },
  },
});
