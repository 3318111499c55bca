import { vi } from "vitest";

/** Waits for the condition, not for a time: the bound is only there for a condition that never comes. */
export function eventually<T>(condition: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(condition, { timeout: 15_000, interval: 20 });
}
