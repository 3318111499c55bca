// @vitest-environment happy-dom
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { RelativeTime } from "./relative-time";

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

const NOW = Date.UTC(2026, 5, 15, 12);

beforeEach(() => void vi.useFakeTimers({ now: NOW }));
afterEach(() => void vi.useRealTimers());

it("goes along with the clock, from seconds to minutes to hours, and keeps one timer", () => {
  const place = document.createElement("div");
  const root = createRoot(place);
  act(() =>
    root.render(
      <>
        <RelativeTime at={NOW - 30_000} />
        <RelativeTime at={NOW - 31_000} />
      </>,
    ),
  );
  const words = () => place.querySelector("time")?.textContent;
  const pass = (ms: number) => act(() => vi.advanceTimersByTime(ms));
  expect(words()).toBe("30 s");
  expect(vi.getTimerCount()).toBe(1);
  pass(5_000);
  expect(words()).toBe("35 s");
  pass(5 * 60_000);
  expect(words()).toBe("5 min");
  pass(3 * 3_600_000);
  expect(words()).toBe("3 h");
  expect(vi.getTimerCount()).toBe(1);
  act(() => root.unmount());
  expect(vi.getTimerCount()).toBe(0);
});
