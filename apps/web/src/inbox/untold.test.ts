import { describe, expect, it } from "vitest";
import { pendingNotifications } from "./notifications";

describe("Notifications of questions", () => {
  it("leave out what waited before they were wanted", () => {
    expect(pendingNotifications(undefined, ["a"])).toEqual({ pending: [], notified: ["a"] });
  });

  it("come once for each question", () => {
    const first = pendingNotifications(["a"], ["b", "a"]);
    expect(first.pending).toEqual(["b"]);
    expect(pendingNotifications(first.notified, ["b", "a"]).pending).toEqual([]);
  });

  it("do not remember what was answered", () => {
    expect(pendingNotifications(["a", "b"], ["b"]).notified).toEqual(["b"]);
  });
});
