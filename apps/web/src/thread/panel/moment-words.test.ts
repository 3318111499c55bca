import { describe, expect, it } from "vitest";
import { checkpointLabel } from "./history-tab";

describe("the moment of a checkpoint", () => {
  it("is what comes next", () => {
    expect(checkpointLabel({ next: ["plan", "search"], source: "loop", interrupts: [] })).toBe(
      "Before plan, search",
    );
    expect(checkpointLabel({ next: ["__start__"], source: "input", interrupts: [] })).toBe("Asked");
    expect(checkpointLabel({ next: [], source: "loop", interrupts: [] })).toBe("Done");
  });

  it("is the question, where the agent waits for one to be answered", () => {
    expect(checkpointLabel({ next: ["choose"], source: "loop", interrupts: [{}] })).toBe("Asks a question");
    expect(checkpointLabel({ next: ["choose"], source: "loop", interrupts: [{}, {}] })).toBe(
      "Asks 2 questions",
    );
  });
});
