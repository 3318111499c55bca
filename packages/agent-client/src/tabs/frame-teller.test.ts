import { describe, expect, it } from "vitest";
import { createFakeFrames } from "../testing/fake-service.js";
import { createFrameRelay } from "./frame-teller.js";
import type { LeaderWord } from "./tab-channel.js";

const FRAMES = { kind: "frames", authority: { source: "detail-connect", epoch: 1 }, frames: [] } as const;
const text = (data: string) => [{ id: data, data }];

function teller() {
  const told: unknown[] = [];
  const frames = createFakeFrames();
  const one = createFrameRelay(
    "t",
    (word: LeaderWord) =>
      told.push(word.kind === "frames" ? [word.seq, ...word.texts.map(({ data }) => data)] : word.kind),
    (callback) => void frames.schedule(callback),
  );
  one.begin(100);
  return { ...one, told, draw: frames.draw, show: (data: string) => one.shown(FRAMES, text(data)) };
}

describe("what a leader shows", () => {
  it("is told once an animation frame, all that came until then together", () => {
    const { told, show, draw } = teller();
    for (const word of ["a", "b", "c"]) show(word);
    expect(told).toEqual([]);
    draw();
    show("d");
    draw();
    expect(told).toEqual([
      [101, "a", "b", "c"],
      [102, "d"],
    ]);
  });

  it("is told before anything that comes behind it, in one row of numbers", () => {
    const { told, show, shown, send, draw, seq } = teller();
    show("a");
    shown({ kind: "unsent", messageIds: ["m"] }, []);
    show("b");
    send({ kind: "leads", isHidden: false });
    draw();
    expect(told).toEqual([[101, "a"], "shown", [103, "b"], "leads"]);
    expect(seq()).toBe(103);
  });

  it("is the next leader's to tell, where it was not told by then", () => {
    const { told, show, drop, draw } = teller();
    show("a");
    drop();
    draw();
    expect(told).toEqual([]);
  });
});
