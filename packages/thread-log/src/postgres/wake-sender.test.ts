import { expect, it } from "vitest";
import { createWakeSender } from "./wake-sender.js";

function scripted() {
  const sent: { readonly tags: readonly string[]; answer(error?: Error): void }[] = [];
  const sender = createWakeSender(
    (tags) =>
      new Promise((resolve, reject) => {
        sent.push({ tags, answer: (error) => (error ? reject(error) : resolve()) });
      }),
  );
  return { sender, sent };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

it("sends what is told while a notification is on its way with the next one, each thread once", async () => {
  const { sender, sent } = scripted();
  sender.tell(["a"]);
  await turn();
  sender.tell(["b", "c"]);
  sender.tell(["c", "d"]);
  expect(sent.map(({ tags }) => tags)).toEqual([["a"]]);
  sent[0]?.answer();
  await turn();
  expect(sent.map(({ tags }) => tags)).toEqual([["a"], ["b", "c", "d"]]);
});

it("sends again what a lost connection may have swallowed", async () => {
  const { sender, sent } = scripted();
  sender.tell(["a"]);
  await turn();
  sent[0]?.answer(new Error("connection lost"));
  await turn();
  sender.resume();
  expect(sent.map(({ tags }) => tags)).toEqual([["a"], ["a"]]);
});
