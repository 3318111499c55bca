import fc from "fast-check";
import { version } from "uuid";
import { describe, expect, it } from "vitest";
import { isNewer, newId } from "./mutation-ids.js";

describe("an id", () => {
  it("is greater than every one before it, however many are made in a millisecond, and when the clock is set back", () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(3), { minLength: 2, maxLength: 60 }),
        fc.integer({ min: 0, max: 2 ** 40 }),
        (steps, from) => {
          let now = from;
          const ids = steps.map((step) => {
            // Mostly the same millisecond; now and then the next, or one that was before.
            now += step - 1;
            return newId(Math.max(0, now));
          });
          expect(ids).toEqual([...new Set(ids)].toSorted());
          expect(ids.every((id) => version(id) === 7)).toBe(true);
        },
      ),
    );
  });

  it("is greater than one of another machine whose clock is ahead", () => {
    const now = 1_800_000_000_000;
    fc.assert(
      fc.property(fc.integer({ min: -5, max: 600_000 }), fc.uuid({ version: 7 }), (ahead, other) => {
        const time = (now + ahead).toString(16).padStart(12, "0");
        const theirs = `${time.slice(0, 8)}-${time.slice(8)}${other.slice(13)}`;
        expect(isNewer(newId(now, theirs), theirs)).toBe(true);
      }),
    );
  });

  it("says the time it was made at, unless it must be greater than a later one", () => {
    const later = 2_000_000_000_000;
    expect(newId(later).replaceAll("-", "").slice(0, 12)).toBe(later.toString(16).padStart(12, "0"));
    for (const nonsense of ["", "initial", "zzz"])
      expect(newId(later + 5, nonsense) > newId(later)).toBe(false);
  });
});
