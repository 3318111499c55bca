import { describe, expect, it } from "vitest";
import { checkpointBefore } from "./checkpoints";

const at = (checkpointId: string, next: readonly string[], ...messageIds: readonly string[]) => ({
  checkpointId,
  next: [...next],
  messageIds: [...messageIds],
});
const HISTORY = [
  at("c6", [], "u1", "a1", "u2", "a2"),
  at("c5", ["agent"], "u1", "a1", "u2"),
  at("c4", ["__start__"], "u1", "a1"),
  at("c3", [], "u1", "a1"),
  at("c2", ["agent"], "u1"),
  at("c1", ["__start__"]),
];

describe("momentBefore", () => {
  it("is the newest at which the agent was done and the message was not there", () => {
    expect(checkpointBefore("u2", HISTORY)?.checkpointId).toBe("c3");
  });

  it("is none before the first message of a thread in which nothing happened before", () => {
    expect(checkpointBefore("u1", HISTORY)).toBeUndefined();
  });

  it("is what a command left, before the first message of a thread that a command began", () => {
    const hired = [...HISTORY, at("c0", []), at("c-1", ["__start__"])];
    expect(checkpointBefore("u1", hired)?.checkpointId).toBe("c0");
  });

  it("is none for a message that no checkpoint holds any more", () => {
    expect(checkpointBefore("u0", HISTORY)).toBeUndefined();
  });
});
