import { describe, expect, it } from "vitest";
import { createServerEventReader, readGraphItem } from "./upstream-chunk.js";

describe("an event of a server", () => {
  it("names its mode and, below the root, the tasks it comes from", () => {
    const read = createServerEventReader();
    expect(read("values", 1)).toEqual({ ns: [], mode: "values", data: 1 });
    expect(read("messages|writer:1|draft:2", 2)).toEqual({
      ns: ["writer:1", "draft:2"],
      mode: "messages",
      data: 2,
    });
    expect(read("values", 3)).toEqual({ ns: [], mode: "values", data: 3 });
  });

  it("is taken apart once for all that follow under the same name", () => {
    const read = createServerEventReader();
    const first = read("messages|agent:1", "a");
    expect(read(["messages", "agent:1"].join("|"), "b").ns).toBe(first.ns);
  });
});

describe("an item of a graph in this process", () => {
  it.each([
    [[["agent:1"], "messages", "x"], { ns: ["agent:1"], mode: "messages", data: "x" }],
    [["values", { a: 1 }], { ns: [], mode: "values", data: { a: 1 } }],
    [{ event: "on_chain_end" }, { ns: [], mode: "events", data: { event: "on_chain_end" } }],
    [[["agent:1", 7], "updates", 1], { ns: ["agent:1"], mode: "updates", data: 1 }],
  ])("%j is read", (item, chunk) => {
    expect(readGraphItem(item)).toEqual(chunk);
  });

  it.each([[undefined], ["values"], [[1, 2, 3]], [[]], [{ data: 1 }]])("%j is none", (item) => {
    expect(readGraphItem(item)).toBeUndefined();
  });
});
