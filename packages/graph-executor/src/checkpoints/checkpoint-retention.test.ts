import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type CheckpointFacts, prunableCheckpoints } from "./retention.js";

const DAY_MS = 86_400_000;
const NOW = Date.parse("2030-01-01T00:00:00.000Z");

function checkpoint(id: string, more: Partial<CheckpointFacts> = {}): CheckpointFacts {
  return {
    ns: "",
    id,
    parentId: undefined,
    at: "2029-01-01T00:00:00.000Z",
    rootId: undefined,
    hasWrites: false,
    needsParent: false,
    ...more,
  };
}

/** Checkpoints 01, 02, … each the child of the one before. */
function chain(length: number, more: (index: number) => Partial<CheckpointFacts> = () => ({})) {
  const name = (index: number) => String(index).padStart(2, "0");
  return Array.from({ length }, (_, index) =>
    checkpoint(name(index + 1), {
      ...(index > 0 && { parentId: name(index), hasWrites: index < length - 1 }),
      ...more(index + 1),
    }),
  );
}

function keptOf(all: readonly CheckpointFacts[], keepNewest: number, keepYoungerMs?: number) {
  const gone = new Set(
    prunableCheckpoints(all, { keepNewest, ...(keepYoungerMs !== undefined && { keepYoungerMs }) }, NOW),
  );
  return all.filter((one) => !gone.has(one)).map(({ ns, id }) => (ns === "" ? id : `${ns}/${id}`));
}

describe("Retention of checkpoints keeps", () => {
  it("the newest by count, and lists the rest oldest first", () => {
    const all = chain(6);
    expect(keptOf(all, 2)).toEqual(["05", "06"]);
    expect(prunableCheckpoints([...all].reverse(), { keepNewest: 2 }, NOW).map(({ id }) => id)).toEqual([
      "01",
      "02",
      "03",
      "04",
    ]);
  });

  it("what is young, however many", () => {
    const at = new Date(NOW - DAY_MS).toISOString();
    const all = chain(6, (index) => (index > 2 ? { at } : {}));
    expect(keptOf(all, 1, 2 * DAY_MS)).toEqual(["03", "04", "05", "06"]);
    expect(keptOf(all, 1, DAY_MS / 2)).toEqual(["06"]);
  });

  it("the end of an older branch that has a question open or tasks to do, and no other end", () => {
    const open = checkpoint("02b", { parentId: "01", hasWrites: true });
    const finished = checkpoint("02c", { parentId: "01" });
    expect(keptOf([...chain(6), open, finished], 1)).toEqual(["06", "02b"]);
  });

  it("the point where two kept branches part", () => {
    const branch = checkpoint("04", { parentId: "02" });
    expect(keptOf([...chain(3), branch], 2)).toEqual(["02", "03", "04"]);
    expect(keptOf([...chain(3), branch], 1)).toEqual(["04"]);
  });

  it("of subgraphs what ran below a kept checkpoint, and of one that remembers its newest", () => {
    const below = (ns: string, id: string, rootId: string) => checkpoint(id, { ns, rootId });
    const all = [
      ...chain(3),
      below("writer:task-1", "01s", "01"),
      below("writer:task-3", "03s", "03"),
      below("writer:task-3|inner:task-9", "03t", "03"),
      below("notes", "01n", "01"),
      below("notes", "02n", "02"),
    ];
    expect(keptOf(all, 1)).toEqual([
      "03",
      "writer:task-3/03s",
      "writer:task-3|inner:task-9/03t",
      "notes/02n",
    ]);
  });

  it("every ancestor whose writes a kept checkpoint replays", () => {
    const all = chain(6, (index) => ({ needsParent: index > 3 }));
    expect(keptOf(all, 1)).toEqual(["03", "04", "05", "06"]);
  });

  it("never nothing, and never more for a smaller count", () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ parent: fc.nat(), hasWrites: fc.boolean(), needsParent: fc.boolean() }), {
          minLength: 1,
          maxLength: 30,
        }),
        fc.integer({ min: 0, max: 10 }),
        (drawn, keepNewest) => {
          const name = (index: number) => String(index).padStart(2, "0");
          const all = drawn.map(({ parent, ...facts }, index) =>
            checkpoint(name(index), { ...facts, ...(index > 0 && { parentId: name(parent % index) }) }),
          );
          const kept = keptOf(all, keepNewest);
          expect(kept).toContain(name(drawn.length - 1));
          expect(keptOf(all, keepNewest + 1)).toEqual(expect.arrayContaining(kept));
          const left = all.filter(({ id }) => kept.includes(id));
          // What is left is all kept: a second round finds nothing.
          expect(prunableCheckpoints(left, { keepNewest }, NOW)).toEqual([]);
          for (const { needsParent, parentId } of left)
            if (needsParent && parentId) expect(kept).toContain(parentId);
        },
      ),
    );
  });
});
