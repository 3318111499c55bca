import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { notifyInBatches } from "./notify-in-batches";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("calls ten listeners in a task, and in the end all of them once", () => {
  const listeners = Array.from({ length: 25 }, () => vi.fn());
  const called = () => listeners.filter(({ mock }) => mock.calls.length === 1).length;
  notifyInBatches(new Set(listeners));
  const counts = [called()];
  while (vi.getTimerCount() > 0) {
    vi.runOnlyPendingTimers();
    counts.push(called());
  }
  expect(counts).toEqual([10, 20, 25]);
});

it("does not call a listener that left in the meantime", () => {
  const listeners = Array.from({ length: 11 }, () => vi.fn());
  const held = new Set<() => void>(listeners);
  notifyInBatches(held);
  for (const listener of listeners) held.delete(listener);
  vi.runAllTimers();
  expect(listeners.at(-1)).not.toHaveBeenCalled();
});
