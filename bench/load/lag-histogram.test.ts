import { describe, expect, it } from "vitest";
import { createLagHistogram } from "./lag-histogram.mjs";
import { slopeOf } from "./least-squares.mjs";

describe("lags, counted by the millisecond", () => {
  it("have the percentiles of the values themselves", () => {
    const histogram = createLagHistogram();
    for (let ms = 100; ms >= 1; ms -= 1) histogram.add(ms);
    expect(histogram.summary()).toEqual({ count: 100, p50: 50, p99: 99, max: 100 });
  });

  it("are never below 0, which two clocks may say", () => {
    const histogram = createLagHistogram();
    histogram.add(-3);
    expect(histogram.summary()).toEqual({ count: 1, p50: 0, p99: 0, max: 0 });
  });

  it("are none where nothing was received", () => {
    expect(createLagHistogram().summary()).toBeUndefined();
  });
});

describe("the slope of points", () => {
  it("is that of the line they lie on", () => {
    expect(slopeOf([0, 1, 2, 3].map((x) => ({ x, y: 7 - 2 * x })))).toBeCloseTo(-2);
  });

  it("is 0 for points that only swing", () => {
    expect(slopeOf([0, 1, 2, 3, 4].map((x) => ({ x, y: x % 2 })))).toBeCloseTo(0);
  });
});
