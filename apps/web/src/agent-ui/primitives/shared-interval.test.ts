import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { sharedInterval } from "./time";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("tells all who want the same pace by one timer", () => {
  const heard = [vi.fn(), vi.fn()];
  const stops = heard.map((listener) => sharedInterval(1_000, listener));
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(2_000);
  for (const listener of heard) expect(listener).toHaveBeenCalledTimes(2);
  for (const stop of stops) stop();
});

it("keeps no timer for nobody, and starts anew for who comes later", () => {
  const stop = sharedInterval(1_000, () => {});
  stop();
  stop();
  expect(vi.getTimerCount()).toBe(0);
  const listener = vi.fn();
  const stopAgain = sharedInterval(1_000, listener);
  vi.advanceTimersByTime(1_000);
  expect(listener).toHaveBeenCalledTimes(1);
  stopAgain();
});

it("goes on for the others when one of them stops while it is told", () => {
  const other = vi.fn();
  const stopFirst = sharedInterval(1_000, () => stopFirst());
  const stopOther = sharedInterval(1_000, other);
  vi.advanceTimersByTime(2_000);
  expect(other).toHaveBeenCalledTimes(2);
  stopOther();
});
