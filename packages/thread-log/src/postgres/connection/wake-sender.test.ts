import { createSimulatedClock } from "@throughline/ai-core";
import { expect, it } from "vitest";
import { createNotifier } from "./notifications.js";

function scripted({ everyMs = 0 } = {}) {
  const sent: { readonly tags: readonly string[]; answer(error?: Error): void }[] = [];
  const clock = createSimulatedClock();
  let putBackMs = 0;
  const sender = createNotifier({
    send: (tags) =>
      new Promise((resolve, reject) => {
        sent.push({ tags, answer: (error) => (error ? reject(error) : resolve()) });
      }),
    clock: { ...clock, now: () => clock.now() - putBackMs },
    everyMs,
  });
  const putBack = (ms: number) => {
    putBackMs = ms;
  };
  return { sender, sent, clock, putBack };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

it("sends what is told while a notification is on its way with the next one, each thread once", async () => {
  const { sender, sent } = scripted();
  sender.notify(["a"]);
  await turn();
  sender.notify(["b", "c"]);
  sender.notify(["c", "d"]);
  expect(sent.map(({ tags }) => tags)).toEqual([["a"]]);
  sent[0]?.answer();
  await turn();
  expect(sent.map(({ tags }) => tags)).toEqual([["a"], ["b", "c", "d"]]);
});

it("sends the first at once, and what is told soon after it together, when its time has come", async () => {
  const { sender, sent, clock } = scripted({ everyMs: 20 });
  sender.notify(["a"]);
  await turn();
  clock.advance(5);
  sent[0]?.answer();
  await turn();
  sender.notify(["b"]);
  sender.notify(["c"]);
  clock.advance(14);
  await turn();
  expect(sent.map(({ tags }) => tags)).toEqual([["a"]]);
  clock.advance(1);
  await turn();
  expect(sent.map(({ tags }) => tags)).toEqual([["a"], ["b", "c"]]);
});

it("waits no longer where the clock is put back while a notification is on its way", async () => {
  const { sender, sent, clock, putBack } = scripted({ everyMs: 20 });
  sender.notify(["a"]);
  await turn();
  putBack(3_600_000);
  sent[0]?.answer();
  await turn();
  sender.notify(["b"]);
  clock.advance(20);
  await turn();
  expect(sent.map(({ tags }) => tags)).toEqual([["a"], ["b"]]);
});

it("does not wait after a notification that took as long", async () => {
  const { sender, sent, clock } = scripted({ everyMs: 20 });
  sender.notify(["a"]);
  await turn();
  sender.notify(["b"]);
  clock.advance(20);
  sent[0]?.answer();
  await turn();
  expect(sent.map(({ tags }) => tags)).toEqual([["a"], ["b"]]);
});

it("sends again what a lost connection may have swallowed", async () => {
  const { sender, sent } = scripted();
  sender.notify(["a"]);
  await turn();
  sent[0]?.answer(new Error("connection lost"));
  await turn();
  sender.resume();
  expect(sent.map(({ tags }) => tags)).toEqual([["a"], ["a"]]);
});
