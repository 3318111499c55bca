import type { CallView } from "@throughline/agent-client";
import { describe, expect, it } from "vitest";
import { originText, runOrigin } from "./run-origin";

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
    expect(originText("you", { kind: "message" })).toBe("You");
    expect(originText("schedule", { kind: "message" })).toBe("Schedule");
  });

  it("name the command, and who ran it", () => {
    const hire = { kind: "command", command: "hire" } as const;
    expect(originText("you", hire)).toBe("You ran hire");
    expect(originText("another-tab", hire)).toBe("Another tab ran hire");
    expect(originText("schedule", { kind: "command", command: "cycle" })).toBe("Schedule ran cycle");
  });

  it("name the person whom the service names", () => {
    expect(originText("person", { kind: "message" }, "ann")).toBe("ann");
    expect(originText("person", { kind: "answer", words: undefined }, "ann")).toBe("ann answered");
    expect(originText("person", { kind: "message" })).toBe("A person of the account");
    expect(originText("you", { kind: "message" }, "ann")).toBe("You");
  });

  it("say what was answered, and by whom", () => {
    const chose = { kind: "answer", words: "chose KLM" } as const;
    expect(originText("you", chose)).toBe("You chose KLM");
    expect(originText("another-tab", chose)).toBe("You chose KLM");
    expect(originText("person", chose, "ann")).toBe("ann chose KLM");
    expect(originText("person", chose)).toBe("A person of the account chose KLM");
    expect(originText("you", { kind: "continued" })).toBe("You continued");
    expect(originText("you", { kind: "answer", words: undefined })).toBe("You answered");
  });

  it("do not claim that a person spoke where nothing was said", () => {
    expect(originText("you", { kind: "nothing" })).toBe("You started this run");
    expect(originText("schedule", { kind: "nothing" })).toBe("Schedule");
  });
});
