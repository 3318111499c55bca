import { emptyCheckpoint, MemorySaver } from "@langchain/langgraph-checkpoint";
import { isStoreOutage, systemClock } from "@throughline/ai-core";
import { describe, expect, it, vi } from "vitest";
import { checkpointTime } from "./checkpoint-time.js";
import { RunSaver, type RunSaverOptions } from "./run-saver.js";

const THREAD = { thread_id: "t", checkpoint_ns: "" };
const METADATA = { source: "loop", step: 0, parents: {} } as const;

/** An id as LangGraph makes it when a wall clock shows this time. */
function idAt(ms: number): string {
  const ticks = ((BigInt(ms) + 12_219_292_800_000n) * 10_000n).toString(16).padStart(15, "0");
  return `${ticks.slice(0, 8)}-${ticks.slice(8, 12)}-6${ticks.slice(12)}-8000-000000000001`;
}

/** A run's saver on a thread whose newest checkpoint was written by a clock that is this far ahead. */
async function saverBehind(aheadMs: number, more: Partial<RunSaverOptions> = {}) {
  const inner = new MemorySaver();
  const newest = idAt(Date.now() + aheadMs);
  await inner.put({ configurable: THREAD }, { ...emptyCheckpoint(), id: newest }, METADATA);
  const onWriteFailed = vi.fn<(error: unknown) => void>();
  const { signal } = new AbortController();
  const saver = new RunSaver(inner, { runId: "r", clock: systemClock, signal, onWriteFailed, ...more });
  const put = (id: string) =>
    saver.put(
      { configurable: { ...THREAD, checkpoint_id: newest } },
      { ...emptyCheckpoint(), id },
      METADATA,
      {},
    );
  const newestId = async () => (await inner.getTuple({ configurable: THREAD }))?.checkpoint.id;
  return { saver, newest, onWriteFailed, put, newestId };
}

describe("A run on a thread that another instance wrote last", () => {
  it("begins once its own clock has passed the other's", async () => {
    const { saver, newest } = await saverBehind(300);
    await saver.getTuple({ configurable: THREAD });
    expect(Date.now()).toBeGreaterThan(checkpointTime(newest) ?? Number.POSITIVE_INFINITY);
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
