import { describe, expect, it } from "vitest";
import { momentWords } from "./history-tab";

describe("the moment of a checkpoint", () => {
  it("is what comes next", () => {
    expect(momentWords({ next: ["plan", "search"], source: "loop", interrupts: [] })).toBe(
      "Before plan, search",
    );
    expect(momentWords({ next: ["__start__"], source: "input", interrupts: [] })).toBe("Asked");
    expect(momentWords({ next: [], source: "loop", interrupts: [] })).toBe("Done");
  });

  it("is the question, where the agent waits for one to be answered", () => {
    expect(momentWords({ next: ["choose"], source: "loop", interrupts: [{}] })).toBe("Asks a question");
    expect(momentWords({ next: ["choose"], source: "loop", interrupts: [{}, {}] })).toBe("Asks 2 questions");
  });
});
