import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { virtualWindow } from "./log-list";

const at = (scrollTop: number, count = 100_000) =>
  virtualWindow({ scrollTop, height: 320, rowHeight: 24, count });

describe("a window on many rows", () => {
  it("draws a handful of a hundred thousand", () => {
    const { start, end } = at(50_000 * 24);
    expect(start).toBeLessThanOrEqual(50_000);
    expect(end).toBeGreaterThanOrEqual(50_000 + 14);
    expect(end - start).toBeLessThan(30);
  });

  it("begins at the first row and ends at the last", () => {
    expect(at(0).start).toBe(0);
    expect(at(100_000 * 24).end).toBe(100_000);
  });

  it("draws all of a few", () => {
    expect(at(0, 3)).toEqual({ start: 0, end: 3 });
    expect(at(0, 0)).toEqual({ start: 0, end: 0 });
  });

  it("covers what is seen on however tall a screen, and never draws more than 200, wherever it is scrolled", () => {
    fc.assert(
      fc.property(
        fc.record({
          count: fc.nat(200_000),
          height: fc.integer({ min: 0, max: 5_000 }),
          scrollTop: fc.integer({ min: -500, max: 6_000_000 }),
          rowHeight: fc.integer({ min: 16, max: 40 }),
        }),
        (where) => {
          const { start, end } = virtualWindow(where);
          expect(start).toBeGreaterThanOrEqual(0);
          expect(end).toBeLessThanOrEqual(where.count);
          expect(end - start).toBeLessThanOrEqual(200);
          const top = Math.floor(where.scrollTop / where.rowHeight);
          if (top < 0 || top >= where.count) return;
          expect(start).toBeLessThanOrEqual(top);
          const seen = Math.min(Math.ceil(where.height / where.rowHeight), 190);
          expect(end).toBeGreaterThanOrEqual(Math.min(where.count, top + seen));
        },
      ),
    );
  });
});
