import { describe, expect, it } from "vitest";
import { linkedTurn, messageAnchor, turnAnchor } from "./anchors";

const TURNS = [
  { key: "u1", userId: "u1", messageIds: ["a1", "a 2"] },
  { key: "r2", userId: undefined, messageIds: ["a3"] },
];

describe("linkedTurn", () => {
  it("is the turn that the address names, also before it is there", () => {
    expect(linkedTurn(turnAnchor("u9"), TURNS)).toBe(turnAnchor("u9"));
  });

  it("is the turn that holds the message which the address names", () => {
    expect(linkedTurn(messageAnchor("u1"), TURNS)).toBe(turnAnchor("u1"));
    expect(linkedTurn(messageAnchor("a 2"), TURNS)).toBe(turnAnchor("u1"));
    expect(linkedTurn(messageAnchor("a3"), TURNS)).toBe(turnAnchor("r2"));
  });

  it("is none for a message that is not there, and for any other anchor", () => {
    expect(linkedTurn(messageAnchor("gone"), TURNS)).toBeUndefined();
    expect(linkedTurn("", TURNS)).toBeUndefined();
    expect(linkedTurn("top", TURNS)).toBeUndefined();
  });
});
