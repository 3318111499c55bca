import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatUsd, parseCost, parseUsd, toUsdNumber } from "./money.js";

describe("parseUsd", () => {
  it.each<[unknown, bigint | undefined]>([
    ["2.1e-05", 21_000_000n],
    ["1.4999999999999999e-05", 15_000_000n],
    [0.000017, 17_000_000n],
    ["0", 0n],
    [0, 0n],
    ["0.0", 0n],
    ["1", 1_000_000_000_000n],
    ["1.", 1_000_000_000_000n],
    [".5", 500_000_000_000n],
    ["1e3", 1_000_000_000_000_000n],
    ["4.9e-13", 0n],
    ["5e-13", 1n],
    ["5e-14", 0n],
    ["9.9e-40", 0n],
    ["-0.5", -500_000_000_000n],
    ["", undefined],
    [".", undefined],
    ["e5", undefined],
    ["NaN", undefined],
    [Number.NaN, undefined],
    [Number.POSITIVE_INFINITY, undefined],
    ["1,5", undefined],
    ["1e9999", undefined],
    [null, undefined],
    [undefined, undefined],
    [{}, undefined],
  ])("reads %j as %s", (text, amount) => {
    expect(parseUsd(text)).toBe(amount);
  });

  it("is the inverse of formatUsd", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n }), (amount) => {
        expect(parseUsd(formatUsd(amount))).toBe(amount);
      }),
    );
  });

  it("reads a float within half a picodollar, in whichever form it is written", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1000, noNaN: true }), (usd) => {
        const amount = parseUsd(usd);
        expect(parseUsd(usd.toExponential())).toBe(amount);
        expect(Math.abs(Number(amount) / 1e12 - usd)).toBeLessThanOrEqual(5.1e-13 + usd * 1e-15);
      }),
    );
  });
});

it("takes no cost below zero", () => {
  expect(parseCost("-0.1")).toBeUndefined();
  expect(parseCost("0.1")).toBe(100_000_000_000n);
});

it("gives the number that the wire shows", () => {
  expect(toUsdNumber(17_000_000n)).toBe(0.000017);
});
