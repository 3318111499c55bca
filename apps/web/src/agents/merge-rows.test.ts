import { describe, expect, it } from "vitest";
import type { ThreadPage, ThreadRow } from "../data/thread-lists";
import { threadRow as row } from "./testing/thread-row";
import { joinRows, mergeFirst } from "./thread-pages";

const page = (threads: readonly ThreadRow[], next: string | null = "more"): ThreadPage => ({ threads, next });
const names = ({ threads }: ThreadPage) => threads.map(({ threadName }) => threadName);

describe("the first page, told anew", () => {
  const known = page([row("d", 4), row("c", 3), row("b", 2), row("a", 1)], "below a");

  it("pushes a thread below it and loses none", () => {
    const merged = mergeFirst(known, page([row("e", 5), row("d", 4)], "below d"));
    expect(names(merged)).toEqual(["e", "d", "c", "b", "a"]);
    expect(merged.next).toBe("below a");
  });

  it("has a thread that moved up once, as it stands now", () => {
    const merged = mergeFirst(known, page([row("a", 6, { status: "running" }), row("d", 4)]));
    expect(names(merged)).toEqual(["a", "d", "c", "b"]);
    expect(merged.threads[0]?.status).toBe("running");
  });

  it("takes away what should be on it and is not", () => {
    expect(names(mergeFirst(known, page([row("d", 4), row("b", 2)])))).toEqual(["d", "b", "a"]);
  });

  it("keeps what was active in the same moment as its last thread", () => {
    const even = page([row("d", 4), row("c", 3), row("b", 3)]);
    expect(names(mergeFirst(even, page([row("d", 4), row("c", 3)])))).toEqual(["d", "c", "b"]);
  });

  it("is all there is where no other follows", () => {
    expect(mergeFirst(known, page([row("d", 4)], null))).toEqual(page([row("d", 4)], null));
  });
});

it("joins two lists in the order of what happened last, each thread once and as the newer list has it", () => {
  const joined = joinRows([row("c", 3), row("a", 1)], [row("a", 4), row("b", 2)]);
  expect(joined.map(({ threadName, lastActivityAt }) => [threadName, lastActivityAt])).toEqual([
    ["a", 4],
    ["c", 3],
    ["b", 2],
  ]);
});
