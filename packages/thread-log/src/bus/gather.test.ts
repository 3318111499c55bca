import { createSimulatedClock } from "@throughline/ai-core";
import { expect, it } from "vitest";
import { createGather } from "./gather.js";

it("hands on the first at once, what comes within the interval together, and all of it in order", () => {
  const clock = createSimulatedClock();
  const handed: (readonly number[])[] = [];
  const add = createGather<number>(clock, 20, (items) => handed.push(items));
  add([1, 2]);
  add([3]);
  clock.advance(10);
  add([4]);
  expect(handed).toEqual([[1, 2]]);
  clock.advance(10);
  add([5]);
  expect(handed).toEqual([
    [1, 2],
    [3, 4],
  ]);
  clock.advance(20);
  expect(handed.at(-1)).toEqual([5]);
  clock.advance(20);
  expect(clock.pending()).toBe(0);
  add([6]);
  expect(handed.at(-1)).toEqual([6]);
});
