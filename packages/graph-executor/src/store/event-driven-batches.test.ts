import { AsyncBatchedStore, InMemoryStore } from "@langchain/langgraph-checkpoint";
import { describe, expect, it, vi } from "vitest";
import { emptyBatchesByEvent } from "./graph-store.js";

emptyBatchesByEvent();

describe("The store of a run", () => {
  it("does what a node asks for at once as one batch, in order, and sets no timer while nothing is asked", async () => {
    const inner = new InMemoryStore();
    const batch = vi.spyOn(inner, "batch");
    const timers = vi.spyOn(globalThis, "setTimeout");
    const store = new AsyncBatchedStore(inner);
    store.start();
    await new Promise((resolve) => setImmediate(resolve));
    expect(timers).not.toHaveBeenCalled();
    const [, found, missing] = await Promise.all([
      store.put(["notes"], "a", { text: "rain" }),
      store.get(["notes"], "a"),
      store.get(["notes"], "b"),
    ]);
    expect(batch).toHaveBeenCalledTimes(1);
    expect(missing).toBeNull();
    expect(found ?? (await store.get(["notes"], "a"))).toMatchObject({ value: { text: "rain" } });
    await store.stop();
    timers.mockRestore();
  });

  it("tells each that asked what went wrong", async () => {
    const inner = new InMemoryStore();
    vi.spyOn(inner, "batch").mockRejectedValueOnce(new Error("full"));
    const store = new AsyncBatchedStore(inner);
    store.start();
    const asked = await Promise.allSettled([store.get(["n"], "a"), store.get(["n"], "b")]);
    expect(asked.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(await store.get(["n"], "a")).toBeNull();
  });
});
