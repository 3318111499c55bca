import type { CallView } from "@throughline/agent-client";
import { describe, expect, it } from "vitest";
import { runOrigin } from "./run-origin";

const run = (kind: "client" | "cron" | "foreign", startedAt: number): CallView => ({
  runId: "r",
  callId: "r",
  parentId: null,
  kind: "run",
  name: "langgraph:poet",
  attempt: 0,
  status: "ok",
  startedAt,
  endedAt: null,
  startedBy: { kind },
});

describe("runOrigin", () => {
  it.each([
    ["you", run("client", 200), true],
    ["another-tab", run("client", 200), false],
    ["you", run("client", 50), false],
    ["schedule", run("cron", 200), true],
    ["outsider", run("foreign", 200), false],
    ["you", undefined, false],
  ] as const)("is %s", (starter, started, isOwn) => {
    expect(runOrigin(started, { isOwn, openedAt: 100_000, isShared: false })).toBe(starter);
  });

  it("is a person of the account in a thread that the account shares, unless this page asked", () => {
    const facts = { openedAt: 100_000, isShared: true };
    expect(runOrigin(run("client", 50), { ...facts, isOwn: false })).toBe("person");
    expect(runOrigin(run("client", 200), { ...facts, isOwn: true })).toBe("you");
    expect(runOrigin(run("cron", 200), { ...facts, isOwn: false })).toBe("schedule");
  });
});
