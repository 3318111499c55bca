import { describe, expect, it } from "vitest";
import { readFiles, readTodos, todoStatus } from "./files-tab";

describe("what a deep agent keeps", () => {
  it("is files in each of the shapes they come in, by path", () => {
    const files = {
      "/b.md": { content: "text", mimeType: "text/markdown", modified_at: "2026-01-01T00:00:00Z" },
      "/a.txt": "plain",
      "/c.txt": { content: ["one", "two"] },
      "/none": { content: 7 },
      "/gone": null,
    };
    expect(readFiles({ files })).toEqual([
      { path: "/a.txt", content: "plain", mimeType: undefined, modifiedAt: undefined },
      { path: "/b.md", content: "text", mimeType: "text/markdown", modifiedAt: "2026-01-01T00:00:00Z" },
      { path: "/c.txt", content: "one\ntwo", mimeType: undefined, modifiedAt: undefined },
    ]);
  });

  it("is todos, and one of an unknown status is still to do", () => {
    const todos = [
      { content: "a", status: "completed" },
      { content: "b", status: "someday" },
      "c",
      { status: "pending" },
    ];
    expect(readTodos({ todos })).toEqual([
      { content: "a", status: "completed" },
      { content: "b", status: "pending" },
    ]);
  });

  it("is nothing where a state has neither", () => {
    expect(readFiles({})).toEqual([]);
    expect(readFiles({ files: ["a"] })).toEqual([]);
    expect(readTodos({ todos: {} })).toEqual([]);
  });
});

describe("todoStanding", () => {
  const todo = { content: "Read", status: "in_progress" } as const;

  it("is under way only while a run goes on", () => {
    expect(todoStatus(todo, true)).toBe("in_progress");
    expect(todoStatus(todo, false)).toBe("left");
  });

  it("is what the agent says otherwise", () => {
    expect(todoStatus({ ...todo, status: "completed" }, false)).toBe("completed");
    expect(todoStatus({ ...todo, status: "pending" }, true)).toBe("pending");
  });
});
