import { createSimulatedClock } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { createOutbox } from "./connection.js";

function scene() {
  const clock = createSimulatedClock();
  const lost: string[] = [];
  const answers: { take(): void; refuse(): void }[] = [];
  let stalls = 0;
  const outbox = createOutbox({
    clock,
    post: () =>
      new Promise<void>((resolve, reject) => {
        answers.push({ take: resolve, refuse: () => reject(new Error("refused")) });
      }),
    onStalled: () => {
      stalls += 1;
    },
  });
  const send = (name: string) => outbox.send(Buffer.from(name), () => lost.push(name));
  return { clock, lost, answers, send, stalls: () => stalls };
}

const turns = () => new Promise(setImmediate);

describe("the outbox", () => {
  it("tells of nothing that was taken in time", async () => {
    const { clock, lost, answers, send, stalls } = scene();
    send("a");
    clock.advance(400);
    answers[0]?.take();
    await turns();
    send("b");
    clock.advance(400);
    answers[1]?.take();
    await turns();
    clock.advance(10_000);
    expect(lost).toEqual([]);
    expect(stalls()).toBe(0);
    expect(clock.pending()).toBe(0);
  });

  it("gives up all that is on its way when the oldest is not taken within half a second", async () => {
    const { clock, lost, send, stalls } = scene();
    send("a");
    clock.advance(300);
    send("b");
    clock.advance(199);
    expect(lost).toEqual([]);
    clock.advance(1);
    await turns();
    expect(lost).toEqual(["a", "b"]);
    expect(stalls()).toBe(1);
  });

  it("gives up what is refused, once, and nothing else", async () => {
    const { clock, lost, answers, send, stalls } = scene();
    send("a");
    send("b");
    answers[0]?.refuse();
    answers[1]?.take();
    await turns();
    clock.advance(10_000);
    expect(lost).toEqual(["a"]);
    expect(stalls()).toBe(0);
  });
});
