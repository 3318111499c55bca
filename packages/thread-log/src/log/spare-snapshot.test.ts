import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { expendableSnapshot } from "./snapshots.js";

/** Newest first: what is kept after snapshots this far apart were made, each letting go of what is spare. */
function keptAfter(steps: readonly number[]): readonly number[] {
  let kept: readonly number[] = [];
  for (const step of steps) {
    const all = [(kept[0] ?? 0) + step, ...kept];
    const spare = expendableSnapshot(all);
    kept = all.filter((seq) => seq !== spare);
  }
  return kept;
}

const steps = fc.array(fc.integer({ min: 1, max: 1_000 }), { minLength: 1, maxLength: 300 });

describe("Snapshots that are kept", () => {
  it("are so many that whoever comes back costs in proportion to what they missed", () => {
    fc.assert(
      fc.property(steps, fc.double({ min: 0, max: 1, noNaN: true }), (made, share) => {
        const kept = keptAfter(made);
        const newest = kept[0] ?? 0;
        const cursor = Math.floor(newest * share);
        const from = kept.find((seq) => seq <= cursor) ?? 0;
        expect(cursor - from).toBeLessThanOrEqual(3 * (newest - cursor) + Math.max(...made));
      }),
    );
  });

  it("are the newest two at least", () => {
    fc.assert(
      fc.property(steps, (made) => {
        const newest = made.reduce((sum, step) => sum + step, 0);
        expect(keptAfter(made).slice(0, 2)).toEqual(
          [newest, newest - (made.at(-1) ?? 0)].slice(0, made.length),
        );
      }),
    );
  });

  it("are few, however long the thread", () => {
    const every = (count: number) => keptAfter(Array.from({ length: count }, () => 1_000)).length;
    expect([1, 10, 100, 500, 10_000].map(every)).toEqual([1, 4, 7, 9, 13]);
  });
});
