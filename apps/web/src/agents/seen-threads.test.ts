import { expect, it } from "vitest";
import { isUnread, markSeen, readSeen } from "./seen-threads";
import { threadRow as row } from "./testing/thread-row";

it("takes nothing for unread that happened before the first visit", () => {
  const seen = readSeen(null, 100);
  expect(isUnread(seen, row("a", 99))).toBe(false);
  expect(isUnread(seen, row("a", 101))).toBe(true);
});

it("takes a thread for read until something newer happens in it, and no other thread", () => {
  const seen = markSeen(readSeen(null, 100), { agentId: "langgraph:poet", threadName: "a" }, 200);
  expect(isUnread(seen, row("a", 150))).toBe(false);
  expect(isUnread(seen, row("a", 201))).toBe(true);
  expect(isUnread(seen, row("b", 150))).toBe(true);
});

it("survives being stored, and a store that holds something else", () => {
  const seen = markSeen(readSeen(null, 100), { agentId: "langgraph:poet", threadName: "a" }, 200);
  expect(readSeen(JSON.stringify(seen), 999)).toEqual(seen);
  expect(readSeen('{"since":"yesterday"}', 999)).toEqual({ since: 999, at: {} });
});

it("remembers a bounded number of threads, and takes none that it forgot for unread", () => {
  let seen = readSeen(null, 0);
  for (let n = 1; n <= 205; n += 1) {
    seen = markSeen(seen, { agentId: "langgraph:poet", threadName: `t${n}` }, n);
  }
  expect(Object.keys(seen.at)).toHaveLength(200);
  expect(isUnread(seen, row("t1", 1))).toBe(false);
  expect(isUnread(seen, row("t205", 206))).toBe(true);
});
