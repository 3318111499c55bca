import { describe, expect, it } from "vitest";
import { findNotes, searchNotes, searchResultSchema, uncoveredWords } from "./notes.js";

const idsFor = (query: string) => findNotes(query).map((note) => note.id);

describe("searchNotes", () => {
  it("puts a note whose title names the thing first", () => {
    expect(idsFor("What is a cursor?")[0]).toBe("n2");
    expect(idsFor("leases")[0]).toBe("n3");
  });

  it("gives at most three notes, and none where nothing fits", () => {
    expect(idsFor("log event agent reader cursor lease")).toHaveLength(3);
    expect(idsFor("zebra")).toEqual([]);
    expect(idsFor("what is the")).toEqual([]);
    expect(idsFor("")).toEqual([]);
  });

  it("answers a tool call with JSON that its readers can parse", async () => {
    const result: unknown = JSON.parse(await searchNotes.invoke({ query: "idempotency" }));
    expect(searchResultSchema.parse(result).notes[0]).toMatchObject({ id: "n7", title: "Idempotency" });
  });
});

describe("uncoveredWords", () => {
  it("names the words of a question that no note holds", () => {
    expect(uncoveredWords("How do quantum cursors work?", findNotes("cursors"))).toEqual(["quantum", "work"]);
  });
});
