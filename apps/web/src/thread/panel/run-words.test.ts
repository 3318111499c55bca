import { describe, expect, it } from "vitest";
import type { Run } from "../../data/runs";
import { formatTokens, starterOf } from "./runs-tab";

const run = (kind: Run["startedBy"]["kind"], createdAt = "2026-01-01T10:00:00.000Z"): Run => ({
  runId: "r",
  status: "success",
  startedBy: { kind },
  work: "graph",
  model: "m",
  cost: null,
  attempt: 0,
  createdAt,
  endedAt: null,
});
const opened = Date.parse("2026-01-01T09:00:00.000Z");

describe("a run in words", () => {
  it("is whoever started it", () => {
    expect(starterOf(run("cron"), false, opened)).toBe("schedule");
    expect(starterOf(run("foreign"), false, opened)).toBe("outsider");
    expect(starterOf(run("client"), true, opened)).toBe("you");
    expect(starterOf(run("client"), false, opened)).toBe("another-tab");
    expect(starterOf(run("client", "2026-01-01T08:00:00.000Z"), false, opened)).toBe("you");
  });

  it("counts tokens", () => {
    expect(formatTokens(1)).toBe("1 token");
    expect(formatTokens(12_345)).toBe("12,345 tokens");
  });
});
