import { describe, expect, it } from "vitest";
import { tickText } from "./cron-text";

describe("how a tick came out", () => {
  it("is how its run came out, once it started one", () => {
    const outcome = { kind: "started", runId: "r1" } as const;
    expect(tickText({ outcome, runStatus: "running" })).toEqual({ status: "running", words: "Running" });
    expect(tickText({ outcome, runStatus: "success" }).words).toBe("Done");
    expect(tickText({ outcome, runStatus: "error" }).status).toBe("error");
    expect(tickText({ outcome, runStatus: null }).words).toBe("Its run was deleted");
  });

  it("says why it was left out", () => {
    const skipped = (reason: "busy" | "interrupt_pending") =>
      tickText({ outcome: { kind: "skipped", reason }, runStatus: null });
    expect(skipped("busy").words).toMatch(/busy/);
    expect(skipped("interrupt_pending")).toMatchObject({ status: "waiting" });
  });

  it("says what the service said when it did not start", () => {
    const outcome = { kind: "failed", code: "budget_exceeded", message: "The budget is spent." } as const;
    expect(tickText({ outcome, runStatus: null }).words).toBe("Did not start: The budget is spent.");
  });
});
