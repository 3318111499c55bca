// @vitest-environment happy-dom
import { act, type ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { useProgressiveTurns } from "./progressive-rendering";

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

type Idle = (deadline: { timeRemaining(): number }) => void;

const idle = new Map<number, Idle>();

beforeEach(() => {
  let handles = 0;
  vi.stubGlobal("requestIdleCallback", (callback: Idle) => {
    handles += 1;
    idle.set(handles, callback);
    return handles;
  });
  vi.stubGlobal("cancelIdleCallback", (handle: number) => idle.delete(handle));
});

afterEach(() => {
  idle.clear();
  vi.unstubAllGlobals();
});

interface ShownProps {
  readonly count: number;
  readonly onFrom: (from: number) => void;
}

function Shown({ count, onFrom }: ShownProps): ReactNode {
  onFrom(useProgressiveTurns(count));
  return null;
}

function show() {
  const root = createRoot(document.createElement("div"));
  const seen: number[] = [];
  const onFrom = (from: number) => void seen.push(from);
  return {
    /** Where drawing begins, for so many turns. */
    draw(count: number) {
      act(() => root.render(<Shown count={count} onFrom={onFrom} />));
      return seen.at(-1);
    },
    /** The page has nothing better to do for as long as so many turns take: one is never begun that might not fit. */
    rest(turns: number) {
      const [first] = idle;
      if (!first) return undefined;
      idle.delete(first[0]);
      const began = seen.length;
      act(() => first[1]({ timeRemaining: () => Math.max(0, turns - (seen.length - began)) }));
      return seen.at(-1);
    },
    leave: () => act(() => root.unmount()),
  };
}

it("draws the newest turns first, and all of them in the end, as many at a time as there is time for", () => {
  const { draw, rest, leave } = show();
  draw(0);
  expect(draw(200)).toBe(198);
  expect(rest(5)).toBe(194);
  expect(rest(11)).toBe(184);
  while (rest(11)) expect(idle.size).toBe(1);
  expect(idle.size).toBe(0);
  leave();
});

it("lets go of the page again and again, however long nobody needs it", () => {
  const { draw, rest, leave } = show();
  draw(200);
  expect(rest(1_000)).toBeGreaterThan(150);
  leave();
});

it("draws a turn even if there is no time at all", () => {
  const { draw, rest, leave } = show();
  draw(100);
  expect(rest(0)).toBe(97);
  expect(rest(0)).toBe(96);
  leave();
});

it("never takes back what is drawn, however many turns come", () => {
  const { draw, leave } = show();
  expect(draw(1)).toBe(0);
  expect(draw(100)).toBe(0);
  leave();
});

it("goes on where it was when a turn comes meanwhile", () => {
  const { draw, rest, leave } = show();
  draw(100);
  const from = rest(3);
  expect(draw(101)).toBe(from);
  expect(rest(0)).toBe((from ?? 0) - 1);
  leave();
});

it("draws nothing more once the page is left", () => {
  const { draw, leave } = show();
  draw(100);
  leave();
  expect(idle.size).toBe(0);
});
