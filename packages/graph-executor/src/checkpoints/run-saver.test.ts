import { emptyCheckpoint, MemorySaver } from "@langchain/langgraph-checkpoint";
import { isStoreOutage, systemClock } from "@throughline/ai-core";
import { describe, expect, it, vi } from "vitest";
import { idAt } from "../persistence/checkpoint-time-fixture.js";
import { checkpointTime, RunSaver, type RunSaverOptions } from "./run-saver.js";

const THREAD = { thread_id: "t", checkpoint_ns: "" };
const METADATA = { source: "loop", step: 0, parents: {} } as const;

/** A run's saver on a thread whose newest checkpoint was written by a clock that is this far ahead. */
async function saverBehind(aheadMs: number, more: Partial<RunSaverOptions> = {}) {
  const inner = new MemorySaver();
  const [past, newest] = [idAt(Date.now() - 120_000), idAt(Date.now() + aheadMs)];
  for (const id of [past, newest])
    await inner.put({ configurable: THREAD }, { ...emptyCheckpoint(), id }, METADATA);
  const onWriteFailed = vi.fn<(error: unknown) => void>();
  const { signal } = new AbortController();
  const saver = new RunSaver(inner, { runId: "r", clock: systemClock, signal, onWriteFailed, ...more });
  const put = (id: string, parent = newest) =>
    saver.put(
      { configurable: { ...THREAD, checkpoint_id: parent } },
      { ...emptyCheckpoint(), id },
      METADATA,
      {},
    );
  const newestId = async () => (await inner.getTuple({ configurable: THREAD }))?.checkpoint.id;
  return { saver, past, newest, onWriteFailed, put, newestId };
}

describe("A run on a thread that another instance wrote last", () => {
  it("begins once its own clock has passed the other's", async () => {
    const { saver, newest } = await saverBehind(300);
    await saver.getTuple({ configurable: THREAD });
    expect(Date.now()).toBeGreaterThan(checkpointTime(newest) ?? Number.POSITIVE_INFINITY);
  });

  it("begins once its own clock has passed the other's, also where it goes on from a checkpoint of the past", async () => {
    const { saver, newest, past } = await saverBehind(300);
    const found = await saver.getTuple({ configurable: { ...THREAD, checkpoint_id: past } });
    expect(found?.checkpoint.id).toBe(past);
    expect(Date.now()).toBeGreaterThan(checkpointTime(newest) ?? Number.POSITIVE_INFINITY);
  });

  it("is left to another instance when its clock is put back behind the newest, though after what it continues", async () => {
    const { saver, put, newest, past, newestId, onWriteFailed } = await saverBehind(-1_000);
    await saver.getTuple({ configurable: { ...THREAD, checkpoint_id: past } });
    await put(idAt(Date.now() - 60_000), past);
    expect(await newestId()).toBe(newest);
    expect(onWriteFailed.mock.calls.map(([error]) => isStoreOutage(error))).toEqual([true]);
  });

  it("says what is wrong where the other's clock was far ahead", async () => {
    const { saver } = await saverBehind(3_600_000);
    await expect(saver.getTuple({ configurable: THREAD })).rejects.toThrow(
      /3600 s ahead of this instance's clock. Set the clocks/,
    );
  });

  it("is left to another instance when its clock is put back behind what it continues", async () => {
    const { put, newest, newestId, onWriteFailed } = await saverBehind(-1_000);
    await put(idAt(Date.now() - 824_000));
    expect(await newestId()).toBe(newest);
    expect(onWriteFailed.mock.calls.map(([error]) => isStoreOutage(error))).toEqual([true]);
  });

  it("is left as well while its clock is known to be wrong", async () => {
    const { put, newest, newestId, onWriteFailed } = await saverBehind(-1_000, { isClockRight: () => false });
    await put(idAt(Date.now() + 2_700_000));
    expect(await newestId()).toBe(newest);
    expect(onWriteFailed.mock.calls.map(([error]) => isStoreOutage(error))).toEqual([true]);
  });

  it("writes within one millisecond as LangGraph numbers its steps", async () => {
    const { put, newest, newestId, onWriteFailed } = await saverBehind(-1_000);
    const same = newest.replace(/1$/, "2");
    await put(same);
    expect([await newestId(), onWriteFailed.mock.calls]).toEqual([same, []]);
  });
});
