import { describe, expect, it } from "vitest";
import { readAssignment, writeAssignment } from "./assignment.js";

describe("an assignment", () => {
  it("reads back as it was written", () => {
    const assignment = { question: "What is /tmp for?", path: "/research/2/scout.md" };
    expect(readAssignment(writeAssignment(assignment), "/fallback.md")).toEqual(assignment);
  });

  it("falls back to the whole text and the given path when a model worded it otherwise", () => {
    expect(readAssignment("Look into cursors.", "/fallback.md")).toEqual({
      question: "Look into cursors.",
      path: "/fallback.md",
    });
  });
});
