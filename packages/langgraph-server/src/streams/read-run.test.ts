import type { Envelope, LogEntry } from "@throughline/ai-core";
import { threadProjectionCodec } from "@throughline/reading";
import { createMemoryDatabase, createMemoryLogStore, createThreadLog } from "@throughline/thread-log";
import { describe, expect, it } from "vitest";
import { readRun } from "./read-projection.js";

const thread = { account: "acme", threadId: "t" };
const fence = { threadId: "t", runId: "r", token: 1n };
const note = (run_id: string): Envelope => ({
  type: "custom",
  ts: 1,
  trace_id: "x",
  run_id,
  thread_id: "t",
  attempt: 0,
  parent_id: null,
  call_id: run_id,
  seq: 1,
  origin: "live",
  agent: "a",
  payload: { name: "note", value: run_id },
});

async function logOf(...runs: readonly (readonly [runId: string, entries: number])[]) {
  const log = createThreadLog({
    store: createMemoryLogStore(createMemoryDatabase()),
    fold: threadProjectionCodec,
  });
  await log.open(thread, fence);
  for (const [runId, entries] of runs) {
    await log.append(
      thread,
      Array.from({ length: entries }, () => note(runId)),
      fence,
    );
  }
  const head = await log.head(thread);
  if (!head) throw new Error("the log is empty");
  return { log, head };
}

describe("The entries of a run", () => {
  it("are found over many pages, without those of other runs", async () => {
    const { log, head } = await logOf(["before", 700], ["wanted", 1_300], ["after", 40]);
    const found = await readRun(log, thread, "wanted", head);
    expect(found.map(({ seq }) => seq)).toEqual(Array.from({ length: 1_300 }, (_, index) => 701 + index));
  });

  it("are those the log still has, to the last one, when its beginning was trimmed", async () => {
    const { log, head } = await logOf(["wanted", 700]);
    await log.trim(thread, { maxEntries: 333 });
    const found = await readRun(log, thread, "wanted", head);
    expect(found.map(({ seq }) => seq)).toEqual(Array.from({ length: 333 }, (_, index) => 368 + index));
  });

  it("are each told once when the log was compacted, wherever its pages begin", async () => {
    const compaction = {
      afterMs: -1_000,
      // Of three that follow one another the last one stays.
      merge: (entries: readonly LogEntry[]) =>
        entries.filter(({ seq, envelope }) => seq % 3 === 0 || isEnd(envelope)),
    };
    const store = createMemoryLogStore(createMemoryDatabase());
    const log = createThreadLog({ store, fold: threadProjectionCodec, compaction });
    await log.open(thread, fence);
    for (const runId of ["before", "wanted", "after"]) {
      const notes = Array.from({ length: 1_300 }, () => note(runId));
      const end: Envelope = { ...note(runId), type: "run_end", payload: { status: "success" } };
      await log.append(thread, [...notes, end], fence);
    }
    expect((await log.compact()).dropped).toBeGreaterThan(2_000);
    const page = await log.read(thread, undefined, 10_000);
    if (page.kind !== "entries" || !page.head) return expect.unreachable();
    for (const runId of ["before", "wanted", "after"]) {
      const own = page.entries.filter(({ envelope }) => envelope.run_id === runId);
      expect(await readRun(log, thread, runId, page.head)).toEqual(own);
    }
  });
});

const isEnd = ({ type }: Envelope) => type === "run_end";
