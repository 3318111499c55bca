import fc from "fast-check";
import { afterAll, vi } from "vitest";

fc.configureGlobal({ seed: Number(process.env.THROUGHLINE_SEED) });

// The next file may run in this process.
afterAll(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});
