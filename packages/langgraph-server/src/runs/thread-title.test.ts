import { expect, it } from "vitest";
import { deriveTitle } from "./start-run.js";

it("derives a title from the first thing a person says, on one line and no longer than a line", () => {
  const user = (content: string) => ({ id: "1", role: "user" as const, content });
  expect(deriveTitle({ kind: "input", messages: [user("  How\n are   tides made? ")] })).toBe(
    "How are tides made?",
  );
  const long = deriveTitle({ kind: "input", messages: [user("🌊".repeat(200))] });
  expect(Array.from(long ?? "")).toHaveLength(80);
  expect(long?.endsWith("🌊…")).toBe(true);
});

it("derives none where nobody says anything", () => {
  expect(deriveTitle({ kind: "resume", answers: {} })).toBeUndefined();
  expect(deriveTitle(undefined)).toBeUndefined();
  const silent = [
    { id: "1", role: "system" as const, content: "Be brief." },
    { id: "2", role: "user" as const, content: [{ type: "image", url: "throughline:attachment/x" }] },
  ];
  expect(deriveTitle({ kind: "input", messages: silent })).toBeUndefined();
});
