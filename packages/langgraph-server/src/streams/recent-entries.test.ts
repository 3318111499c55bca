import type { LogEntry } from "@throughline/ai-core";
import { emptyThreadProjection } from "@throughline/reading";
import { describe, expect, it } from "vitest";
import { createRecentEntries } from "./recent-entries.js";

const entryAt = (seq: number): LogEntry => ({
  epoch: "e",
  seq,
  envelope: {
    type: "custom",
    ts: 1,
    trace_id: "x",
    run_id: "r",
    thread_id: "t",
    attempt: 0,
    parent_id: null,
    call_id: "c",
    seq: 1,
    origin: "live",
    agent: "a",
    payload: { name: "note", value: seq },
  },
});

describe("The last entries of a thread", () => {
  it("tell by seq what follows, and nothing of a seq that compaction merged away", () => {
    const recent = createRecentEntries();
    recent.reset(emptyThreadProjection, 3);
    for (const seq of [7, 8, 12]) recent.push(entryAt(seq));
    const after = (seq: number) => recent.after(seq)?.map((entry) => entry.seq);
    expect([2, 3, 4, 7, 8, 9, 12].map(after)).toEqual([
      undefined,
      [7, 8, 12],
      undefined,
      [8, 12],
      [12],
      undefined,
      [],
    ]);
    expect([2, 5, 9, 13].map((seq) => recent.foldAt(seq))).toEqual(Array(4).fill(undefined));
    expect([3, 7, 8, 12].map((seq) => recent.foldAt(seq) !== undefined)).toEqual(Array(4).fill(true));
    recent.shrink();
    for (let seq = 20; seq < 60; seq += 2) recent.push(entryAt(seq));
    recent.shrink();
    expect(after(26)).toHaveLength(16);
    expect(after(24)).toBeUndefined();
  });
});
