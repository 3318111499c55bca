import fc from "fast-check";
import { expect, it } from "vitest";
import { snapshotDue, trimDue } from "./snapshots.js";

it("is due once for every multiple of a bound, however large the appends are", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 30 })), (appends) => {
      let total = 0;
      let due = 0;
      for (const entries of appends) {
        const before = Math.floor(total / 10);
        total += entries;
        const now = snapshotDue(
          { everyEntries: 10, everyBytes: 1e9 },
          { entries: total, bytes: 0 },
          { entries, bytes: 0 },
        );
        expect(now).toBe(Math.floor(total / 10) > before);
        if (now) due += 1;
      }
      expect(due).toBeLessThanOrEqual(Math.floor(total / 10));
    }),
  );
});

it("trims only past a bound, and not with every append", () => {
  const policy = { maxEntries: 100 };
  const due = Array.from({ length: 200 }, (_, i) =>
    trimDue(policy, { entries: i + 1, bytes: 0 }, { entries: 1, bytes: 0 }),
  );
  expect(due.slice(0, 100)).not.toContain(true);
  expect(due.filter(Boolean)).toHaveLength(4);
  expect(trimDue({}, { entries: 1e9, bytes: 1e9 }, { entries: 1, bytes: 1 })).toBe(false);
});
