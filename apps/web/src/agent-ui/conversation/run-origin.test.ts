import type { CallView } from "@throughline/agent-client";
import { describe, expect, it } from "vitest";
import { originWords, runOrigin } from "./run-origin";

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

describe("originWords", () => {
  it("name who spoke, of a message", () => {
    expect(originWords("you", { kind: "message" })).toBe("You");
    expect(originWords("schedule", { kind: "message" })).toBe("Schedule");
  });

  it("name the command, and who ran it", () => {
    const hire = { kind: "command", command: "hire" } as const;
    expect(originWords("you", hire)).toBe("You ran hire");
    expect(originWords("another-tab", hire)).toBe("Another tab ran hire");
    expect(originWords("schedule", { kind: "command", command: "cycle" })).toBe("Schedule ran cycle");
  });

  it("name the person whom the service names", () => {
    expect(originWords("person", { kind: "message" }, "ann")).toBe("ann");
    expect(originWords("person", { kind: "answer", words: undefined }, "ann")).toBe("ann answered");
    expect(originWords("person", { kind: "message" })).toBe("A person of the account");
    expect(originWords("you", { kind: "message" }, "ann")).toBe("You");
  });

  it("say what was answered, and by whom", () => {
    const chose = { kind: "answer", words: "chose KLM" } as const;
    expect(originWords("you", chose)).toBe("You chose KLM");
    expect(originWords("another-tab", chose)).toBe("You chose KLM");
    expect(originWords("person", chose, "ann")).toBe("ann chose KLM");
    expect(originWords("person", chose)).toBe("A person of the account chose KLM");
    expect(originWords("you", { kind: "continued" })).toBe("You continued");
    expect(originWords("you", { kind: "answer", words: undefined })).toBe("You answered");
  });

  it("do not claim that a person spoke where nothing was said", () => {
    expect(originWords("you", { kind: "nothing" })).toBe("You started this run");
    expect(originWords("schedule", { kind: "nothing" })).toBe("Schedule");
  });
});
