// @vitest-environment happy-dom
import { act, Profiler } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { RelativeTime } from "./time";

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

it("draws the times of a long thread a few at a time, where all of them change with the same minute", () => {
  const place = document.createElement("div");
  const root = createRoot(place);
  let drawn = 0;
  let most = 0;
  const page = (
    <Profiler
      id="page"
      onRender={() => {
        most = Math.max(most, drawn);
        drawn = 0;
      }}
    >
      {Array.from({ length: 40 }, (_, at) => `time ${at}`).map((name) => (
        <Profiler
          key={name}
          id={name}
          onRender={() => {
            drawn += 1;
          }}
        >
          <RelativeTime at={NOW - 170_000} />
        </Profiler>
      ))}
    </Profiler>
  );
  act(() => root.render(page));
  most = 0;
  const step = () => act(() => vi.advanceTimersToNextTimer());
  const words = () => new Set([...place.querySelectorAll("time")].map((time) => time.textContent));
  while (!(words().size === 1 && words().has("3 min"))) step();
  expect(most).toBe(10);
  act(() => root.unmount());
});
