import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { evaluateExpression, formatNumber } from "./tools.js";

describe("the calculator", () => {
  it.each([
    ["1 + 2 * 3", 7],
    ["(1 + 2) * 3", 9],
    ["10 - 4 - 3", 3],
    ["24 / 4 / 2", 3],
    ["-2^2", -4],
    ["(-2)^2", 4],
    ["2^3^2", 512],
    ["2^-1", 0.5],
    ["--3", 3],
    ["2 * -3", -6],
    [".5 + 1.", 1.5],
    ["  ((7))  ", 7],
  ])("reads %s as %d", (text, value) => {
    expect(evaluateExpression(text)).toBeCloseTo(value, 12);
  });

  it.each([
    ["", "Expected a number at the end"],
    ["1 +", "Expected a number at the end"],
    ["(1 + 2", 'Expected a ")" at the end'],
    ["1 2", 'Expected an operator at position 3, found "2"'],
    ["2 + x", 'Expected a number at position 5, found "x"'],
    ["1 / 0", "Division by zero"],
    ["1 / (2 - 2)", "Division by zero"],
    ["9^999", "not a finite number"],
    ["(-8)^.5", "not a finite number"],
    ["process.exit()", 'Expected a number at position 1, found "p"'],
    ["(".repeat(300), "longer than 200 characters"],
  ])("refuses %s and says why", (text, reason) => {
    expect(() => evaluateExpression(text)).toThrow(reason);
  });

  it("agrees with JavaScript on sums and products of whole numbers", () => {
    const number = fc.integer({ min: 0, max: 999 });
    const operator = fc.constantFrom("+", "-", "*");
    fc.assert(
      fc.property(number, operator, number, operator, number, (a, first, b, second, c) => {
        const apply = (left: number, sign: string, right: number) =>
          sign === "+" ? left + right : sign === "-" ? left - right : left * right;
        const leftFirst = first === "*" || second !== "*";
        const expected = leftFirst
          ? apply(apply(a, first, b), second, c)
          : apply(a, first, apply(b, second, c));
        expect(evaluateExpression(`${a}${first} ${b} ${second}${c}`)).toBe(expected);
      }),
    );
  });

  it("writes 0.1 + 0.2 as 0.3", () => {
    expect(formatNumber(evaluateExpression("0.1 + 0.2"))).toBe("0.3");
  });
});
