import { createSimulatedClock } from "@throughline/ai-core";
import { expect, it } from "vitest";
import { createPoll } from "./bus.js";

it("A poll goes on steadily however often it is started, and ends when it is stopped", () => {
  const clock = createSimulatedClock();
  const polls: number[] = [];
  const poll = createPoll(clock, 1_000, () => polls.push(clock.now()));
  for (let n = 0; n < 8; n++) {
    poll.start();
    clock.advance(400);
  }
  expect(polls).toEqual([0, 1_000, 2_000, 3_000]);
  poll.stop();
  clock.advance(5_000);
  expect(polls).toHaveLength(4);
  expect(clock.pending()).toBe(0);
  poll.start();
  expect(polls.at(-1)).toBe(8_200);
});
