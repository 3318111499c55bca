import type { LogEntry, LogPosition } from "@throughline/ai-core";
import { expect } from "vitest";
import type { AppendResult, Deleted, Gap } from "../log/thread-log.js";
import { textOf } from "./log-scene.js";

/** What a watcher of the model was given, and how that ended. */
export interface Witness {
  /** For the report. */
  readonly name: string;
  readonly after: LogPosition | undefined;
  readonly seen: LogEntry[];
  end: Gap | Deleted | "dropped" | undefined;
}

/** The log as it must be: a list per epoch, and what may have happened to it. */
export interface LogOracle {
  /**
   * An append that came back. Its texts are all different, so that a doubled or lost one shows. One that was refused after
   * its first answer was lost may be there all the same, once, before what its heir wrote.
   */
  appended(texts: readonly string[], result: AppendResult, mayBeThere: boolean): void;
  trimmed(floor: number): void;
  deleted(): void;
  /** That these are the log from its beginning, and no more is acknowledged. */
  checkWhole(epoch: string, texts: readonly string[]): void;
  /** That a finished witness saw a piece of the list, without a hole, and that its end was true. */
  check(witness: Witness, head: LogPosition | undefined): void;
}

export function createLogOracle(): LogOracle {
  const lists = new Map<string, string[]>();
  const doubtful = new Set<string>();
  /** What must be at a place, given what is there. */
  const expected = (list: readonly string[], index: number, found: string) =>
    list[index] ?? (doubtful.has(found) ? found : undefined);
  let highestFloor = 0;
  let deletions = 0;

  function check({ name, after, seen, end }: Witness, head: LogPosition | undefined): void {
    const epoch = after?.epoch ?? seen[0]?.epoch;
    const list = epoch === undefined ? [] : (lists.get(epoch) ?? []);
    const from = after?.seq ?? 0;
    expect(
      seen.map((entry) => `${entry.epoch} ${entry.seq} ${textOf(entry)}`),
      `${name}: what it saw`,
    ).toEqual(seen.map((entry, i) => `${epoch} ${from + i + 1} ${expected(list, from + i, textOf(entry))}`));
    const place = from + seen.length;
    if (end === "dropped") return;
    if (end === undefined) {
      expect(epoch ?? head?.epoch, `${name}: still in the log that is`).toBe(head?.epoch);
      expect(place, `${name}: up to the head`).toBe(head?.seq ?? 0);
      return;
    }
    const known = epoch === undefined || lists.has(epoch);
    const reason = end.kind === "gap" ? end.reason : end.kind;
    switch (reason) {
      case "trimmed":
        expect(highestFloor, `${name}: was trimmed past`).toBeGreaterThan(place + 1);
        return;
      case "ahead":
        expect(known && place <= list.length, `${name}: was ahead`).toBe(false);
        return;
      case "epoch":
      case "deleted":
        expect(deletions > 0 || !known, `${name}: its log is gone`).toBe(true);
        return;
      case "unreadable":
        expect.unreachable(`${name}: a position is always readable`);
    }
  }

  return {
    appended(texts, result, mayBeThere) {
      if (!result.ok) {
        if (mayBeThere) for (const text of texts) doubtful.add(text);
        return;
      }
      const list = lists.get(result.epoch) ?? [];
      lists.set(result.epoch, list);
      expect(result.last - result.first + 1, "as many places as entries").toBe(texts.length);
      texts.forEach((text, i) => {
        const index = result.first - 1 + i;
        expect(list[index], `seq ${index + 1} is given once`).toBeUndefined();
        list[index] = text;
      });
    },
    trimmed(floor) {
      highestFloor = Math.max(highestFloor, floor);
    },
    deleted() {
      deletions += 1;
    },
    checkWhole(epoch, texts) {
      const list = lists.get(epoch) ?? [];
      expect(texts, "the whole log").toEqual(texts.map((text, index) => expected(list, index, text)));
      expect(new Set(texts).size, "each entry once").toBe(texts.length);
      expect(list.length, "all that was acknowledged is there").toBeLessThanOrEqual(texts.length);
    },
    check,
  };
}
