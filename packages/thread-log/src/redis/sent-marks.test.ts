import { describe, expect, it } from "vitest";
import { createSentMarks } from "./sent-marks.js";

describe("what was sent to a thread", () => {
  it("is whole while it ends with what was sent last", () => {
    const sent = createSentMarks();
    sent.sending("t", "a");
    sent.sending("t", "b");
    expect(sent.isWhole("t", "b")).toBe(true);
    expect(sent.isWhole("t", "a")).toBe(false);
    expect(sent.isWhole("other", "b")).toBe(false);
  });

  it("is whole without its last part only if just that is sent again", () => {
    const sent = createSentMarks();
    sent.sending("t", "a");
    sent.sending("t", "b");
    sent.sending("t", "b");
    expect(sent.isWhole("t", "a", "b")).toBe(true);
    expect(sent.isWhole("t", "a", "c")).toBe(false);
  });

  it("does not count what was refused", () => {
    const sent = createSentMarks();
    sent.sending("t", "a");
    sent.sending("t", "b")();
    expect(sent.isWhole("t", "a")).toBe(true);
  });

  it("stays in doubt when what was in doubt is sent again and refused", () => {
    const sent = createSentMarks();
    sent.sending("t", "a");
    sent.sending("t", "b");
    sent.sending("t", "b")();
    expect(sent.isWhole("t", "a")).toBe(false);
    expect(sent.isWhole("t", "a", "b")).toBe(true);
  });

  it("forgets the thread written longest ago when there are too many", () => {
    const sent = createSentMarks(2);
    sent.sending("x", "1");
    sent.sending("y", "2");
    sent.sending("x", "3");
    sent.sending("z", "4");
    expect([sent.isWhole("x", "3"), sent.isWhole("y", "2"), sent.isWhole("z", "4")]).toEqual([
      true,
      false,
      true,
    ]);
  });
});
