import { describe, expect, it } from "vitest";
import { createMemoryStorage, createPendingSyncs } from "./pending-sync.js";

const sync = (id: string) => ({ kind: "sync", id, input: { state: { n: id } } }) as const;

describe("a sync that is owed, where two tabs do not share", () => {
  it("is not replaced by an older one, nor forgotten by the tab that had that", () => {
    const storage = createMemoryStorage();
    const [first, second] = [createPendingSyncs(storage, "p:"), createPendingSyncs(storage, "p:")];
    first.save("t", sync("m1"));
    second.save("t", sync("m2"));
    first.save("t", undefined);
    expect(second.load("t")?.id).toBe("m2");
    first.save("t", sync("m1"));
    expect(second.load("t")?.id).toBe("m2");
    second.save("t", undefined);
    expect(first.load("t")).toBeUndefined();
  });
});
