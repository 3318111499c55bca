import type { LogReader } from "@throughline/agent-client";
import { describe, expect, it, vi } from "vitest";
import { createThreadLog, type ThreadLog } from "./thread-log";

const entry = (seq: number, epoch = "e") => ({
  id: `${epoch}.${seq}.0.log`,
  data: JSON.stringify({ type: "custom", seq, epoch }),
});

function openLog() {
  const readers = new Set<LogReader>();
  const log = createThreadLog({
    readLog(reader) {
      readers.add(reader);
      return () => readers.delete(reader);
    },
    now: () => 7,
    schedule(callback) {
      callback();
      return () => undefined;
    },
  });
  const reader = () => [...readers][0];
  return { log, reader, tell: (...entries: ReturnType<typeof entry>[]) => reader()?.entries(entries) };
}

const seqs = (log: ThreadLog) => {
  const { entries, count } = log.getSnapshot();
  return entries.slice(0, count).map(({ cursor }) => cursor.split(".").slice(0, 2).join("."));
};

describe("a thread's log", () => {
  it("is read from its first listener on, and let go after the last", async () => {
    const { log, reader, tell } = openLog();
    expect(reader()).toBeUndefined();
    const leave = log.subscribe(() => undefined);
    expect(log.getSnapshot().status).toBe("connecting");
    reader()?.statusChanged({ kind: "live" });
    tell(entry(1));
    expect(seqs(log)).toEqual(["e.1"]);
    expect(log.getSnapshot().status).toBe("live");
    leave();
    await vi.waitFor(() => expect(log.getSnapshot()).toMatchObject({ status: "closed", count: 0 }));
    expect(reader()).toBeUndefined();
  });

  it("holds nothing once its last listener left: it is read from its beginning again", async () => {
    const { log, reader, tell } = openLog();
    const leave = log.subscribe(() => undefined);
    tell(entry(1), entry(2));
    leave();
    await vi.waitFor(() => expect(reader()).toBeUndefined());
    log.subscribe(() => undefined);
    expect(reader()?.cursor()).toBeUndefined();
    tell(entry(1));
    expect(seqs(log)).toEqual(["e.1"]);
  });

  it("holds its entries as text alone, and reads one when it is asked for", () => {
    const { log, tell } = openLog();
    log.subscribe(() => undefined);
    tell(entry(1));
    const [held] = log.getSnapshot().entries;
    expect({ ...held }).toEqual({ cursor: "e.1.0.log", at: 7, type: "custom", text: entry(1).data });
    expect(held?.envelope).toMatchObject({ type: "custom", seq: 1 });
  });

  it("says how far it has come, and shows nothing twice", () => {
    const { log, reader, tell } = openLog();
    log.subscribe(() => undefined);
    expect(reader()?.cursor()).toBeUndefined();
    tell(entry(1), entry(2));
    expect(reader()?.cursor()).toBe("e.2.0.log");
    tell(entry(2), entry(3));
    expect(seqs(log)).toEqual(["e.1", "e.2", "e.3"]);
    expect(log.getSnapshot().generation).toBe(0);
  });

  it("begins anew when the log it knew is gone", () => {
    const { log, tell } = openLog();
    log.subscribe(() => undefined);
    tell(entry(1), entry(2));
    tell(entry(1, "f"));
    expect(seqs(log)).toEqual(["f.1"]);
    expect(log.getSnapshot().generation).toBe(1);
  });

  it("is over when the thread is gone", () => {
    const { log, reader } = openLog();
    log.subscribe(() => undefined);
    reader()?.statusChanged({ kind: "failed", reason: "not_found", message: "The thread was deleted." });
    expect(log.getSnapshot().status).toBe("over");
  });

  it("leaves an older snapshot as it was", () => {
    const { log, tell } = openLog();
    log.subscribe(() => undefined);
    tell(entry(1));
    const before = log.getSnapshot();
    tell(entry(2));
    expect(before.entries).toBe(log.getSnapshot().entries);
    expect(before.count).toBe(1);
  });

  it("lets go of its older half when it holds too much text", () => {
    const { log, tell } = openLog();
    log.subscribe(() => undefined);
    const long = (seq: number) => ({
      ...entry(seq),
      data: JSON.stringify({ type: "custom", text: "x".repeat(9_000_000) }),
    });
    for (let seq = 1; seq <= 8; seq += 1) tell(long(seq));
    expect(seqs(log)).toEqual(["e.5", "e.6", "e.7", "e.8"]);
    expect(log.getSnapshot().generation).toBe(1);
  });
});
