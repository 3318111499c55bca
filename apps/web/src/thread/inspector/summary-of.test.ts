import { describe, expect, it } from "vitest";
import { summaryOf } from "./log-row";

describe("the summary of an entry", () => {
  it("is a token's own text", () => {
    expect(summaryOf({ message_id: "m1", text: " will\n" })).toBe(" will↵");
  });

  it("names a tool and how it came out", () => {
    expect(summaryOf({ kind: "tool", result: {}, status: "ok", tool_name: "search" })).toBe("search · ok");
  });

  it("says where a state changed", () => {
    const ops = [
      { op: "add", path: "/todos/0" },
      { op: "remove", path: "/files" },
    ];
    expect(summaryOf({ ops })).toBe("/todos/0 and 1 more");
  });

  it("falls back to whatever is there", () => {
    expect(summaryOf({ checkpoint_id: "c1" })).toBe("checkpoint_id c1");
    expect(summaryOf({})).toBe("");
  });

  it("is short, however long the entry", () => {
    expect(summaryOf({ text: "x".repeat(10_000) }).length).toBeLessThan(200);
  });
});
