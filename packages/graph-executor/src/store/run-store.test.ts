import { InMemoryStore, type Operation, type OperationResults } from "@langchain/langgraph-checkpoint";
import { systemClock } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { RunStore, type RunStoreOptions } from "./run-store.js";

/** Keeps every write waiting until it is let go. */
class SlowStore extends InMemoryStore {
  letGo = () => {};
  readonly #gate = new Promise<void>((resolve) => {
    this.letGo = resolve;
  });

  override async batch<Op extends readonly Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    if (operations.some((operation) => "value" in operation)) await this.#gate;
    return super.batch(operations);
  }
}

const options = (given: Partial<RunStoreOptions> = {}): RunStoreOptions => ({
  clock: systemClock,
  signal: new AbortController().signal,
  onWriteFailed: () => {},
  ...given,
});

describe("The store of a run", () => {
  it("keeps, finds and forgets while the run goes on", async () => {
    const store = new RunStore(new InMemoryStore(), options());
    await store.put(["notes"], "tea", { likes: true });
    expect(await store.get(["notes"], "tea")).toMatchObject({ value: { likes: true } });
    expect(await store.search(["notes"])).toHaveLength(1);
    await store.delete(["notes"], "tea");
    expect(await store.get(["notes"], "tea")).toBeNull();
  });

  it("takes nothing from a node that outlives its run, and still lets it read", async () => {
    const inner = new InMemoryStore();
    const store = new RunStore(inner, options());
    await store.put(["notes"], "tea", { likes: true });
    await store.close();
    await store.put(["notes"], "late", { likes: true });
    await store.delete(["notes"], "tea");
    const [found, written, again] = await store.batch([
      { namespace: ["notes"], key: "tea" },
      { namespace: ["notes"], key: "later", value: {} },
      { namespace: ["notes"], key: "late" },
    ]);
    expect(found).toMatchObject({ key: "tea" });
    expect(written).toBeUndefined();
    expect(again).toBeNull();
    expect(await inner.search(["notes"])).toHaveLength(1);
  });

  it("is closed when the write that was under way is done", async () => {
    const inner = new SlowStore();
    const store = new RunStore(inner, options());
    const order: string[] = [];
    const writing = store.put(["notes"], "tea", {}).then(() => order.push("written"));
    const closing = store.close().then(() => order.push("closed"));
    inner.letGo();
    await Promise.all([writing, closing]);
    expect(order).toEqual(["written", "closed"]);
  });
});
