import { describe, expect, it } from "vitest";
import { createSimulatedClock } from "./clock.js";

describe("createSimulatedClock", () => {
  it("fires what falls due in order of time, then of scheduling", () => {
    const clock = createSimulatedClock(1_000);
    const fired: string[] = [];
    clock.schedule(20, () => fired.push(`late@${clock.now()}`));
    clock.schedule(10, () => fired.push(`first@${clock.now()}`));
    clock.schedule(10, () => fired.push(`second@${clock.now()}`));
    clock.advance(15);
    expect(fired).toEqual(["first@1010", "second@1010"]);
    expect(clock.now()).toBe(1_015);
    expect(clock.pending()).toBe(1);
  });

  it("fires a timer that a callback schedules within the same advance", () => {
    const clock = createSimulatedClock();
    const fired: number[] = [];
    const tick = () => {
      fired.push(clock.now());
      if (fired.length < 3) clock.schedule(5, tick);
    };
    clock.schedule(5, tick);
    clock.advance(100);
    expect(fired).toEqual([5, 10, 15]);
  });

  it("does not fire what was cancelled", () => {
    const clock = createSimulatedClock();
    clock.schedule(1, () => expect.unreachable()).cancel();
    clock.advance(10);
    expect(clock.pending()).toBe(0);
  });

  it("refuses to go back", () => {
    expect(() => createSimulatedClock().advance(-1)).toThrow("only moves forward");
  });
});
