import { describe, expect, it } from "vitest";
import type { ThreadRow } from "../data/thread-lists";
import { agentStatus, liveStatus, threadToOpen, withLive } from "./activity";
import { threadRow } from "./testing/thread-row";

const row = (threadName: string, status: ThreadRow["status"], lastActivityAt?: number) =>
  threadRow(threadName, lastActivityAt, { status });

const run = { runId: "r", serviceRunId: "s", attempt: 0, error: null };

describe("an agent's status", () => {
  it("is what waits for a person before what runs", () => {
    expect(agentStatus([row("a", "running"), row("b", "waiting")], true)).toBe("waiting");
    expect(agentStatus([row("a", "running"), row("b", "idle")], true)).toBe("running");
  });

  it("is a failure only until something newer has happened", () => {
    expect(agentStatus([row("a", "error", 2), row("b", "idle", 1)], true)).toBe("error");
    expect(agentStatus([row("a", "error", 1), row("b", "idle", 2)], true)).toBe("scheduled");
  });

  it("is idle without threads and without a schedule", () => {
    expect(agentStatus([], false)).toBe("idle");
  });
});

describe("a thread that is watched", () => {
  it("counts as it stands now, not as the list had it", () => {
    const rows = withLive([row("a", "running"), row("b", "idle")], { threadName: "a", status: "waiting" });
    expect(rows.map(({ status }) => status)).toEqual(["waiting", "idle"]);
  });

  it("waits for a person when its run ended with questions, and runs again as soon as it is answered", () => {
    expect(liveStatus({ ...run, status: "interrupted" }, true)).toBe("waiting");
    expect(liveStatus({ ...run, status: "running" }, true)).toBe("running");
    expect(liveStatus({ ...run, status: "cancelled" }, false)).toBe("idle");
    expect(liveStatus(null, false)).toBeUndefined();
  });
});

it("opens what waits for a person, else what is newest", () => {
  expect(threadToOpen([row("new", "idle", 9), row("asks", "waiting", 1)])?.threadName).toBe("asks");
  expect(threadToOpen([row("old", "idle", 1), row("new", "idle", 9)])?.threadName).toBe("new");
  expect(threadToOpen([])).toBeUndefined();
});
