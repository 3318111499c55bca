import { describe, expect, it } from "vitest";
import { createMemoryDatabase, type MemoryDatabase, TRIM_STEPS } from "../../memory/database.js";
import { createMemoryLogStore } from "../../memory/log-store.js";

import { threadKey } from "../../thread-ref.js";
import { explainRound } from "./explain-round.js";
import { createModelWorld, threadAt } from "./model-world.js";
import { cloneDatabase } from "./normal-form.js";
import type { Outcome } from "./operation.js";
import { newAppend } from "./store-commands.js";
import { trim } from "./trim-command.js";

const LOST: Outcome = { kind: "lost", isDeadlock: false };
const [RAISE, ENTRIES, TERMINALS, SNAPSHOTS] = [0, 1, 2, 3];

/** A thread with a run that ended, an old snapshot and one of the head; and a trim of all of it. */
async function openTrim() {
  const database = createMemoryDatabase();
  const world = createModelWorld(database);
  const thread = threadAt(world, 0);
  const store = createMemoryLogStore(database);
  const fence = { threadId: thread.threadId, runId: "run", token: 1n };
  await store.open(thread, fence.token, "chat/0");
  const { finish: _, ...append } = newAppend(world, { thread, fence }, 1, true);
  await store.commit([append]);
  const { epoch, head } = database.threads.get(threadKey(thread)) ?? { epoch: "", head: 0 };
  for (const seq of [1, head]) {
    const snapshot = { position: { epoch, seq }, foldVersion: 1, state: { through: seq } };
    expect(await store.saveSnapshot(thread, snapshot)).toBe(true);
  }
  const operation = trim(world, [0, 0, 3, 0]);
  if (!operation?.parts) return expect.unreachable("there is a thread to trim");
  const parts = operation.parts;
  const request = { through: head, maxTerminals: 0 };
  return {
    answer: { dropped: head, floor: head + 1 },
    after(...steps: number[]): MemoryDatabase {
      const after = cloneDatabase(database);
      const row = after.threads.get(threadKey(thread));
      for (const step of steps) if (row) TRIM_STEPS[step]?.(row, request);
      return after;
    },
    explain: (outcome: Outcome, after: MemoryDatabase) =>
      explainRound({ before: database, parts: parts(outcome), after }),
  };
}

describe("a trim in the model", () => {
  it("may have been cut off after any of its steps", async () => {
    const { after, explain } = await openTrim();
    const steps = [RAISE, ENTRIES, TERMINALS, SNAPSHOTS];
    for (let done = 0; done <= steps.length; done++) {
      expect(await explain(LOST, after(...steps.slice(0, done))), `after ${done}`).toBeUndefined();
    }
  });

  it("does not leave a step out, whether it was cut off or not", async () => {
    const { after, explain } = await openTrim();
    for (const steps of [
      [RAISE, TERMINALS],
      [RAISE, SNAPSHOTS],
      [RAISE, ENTRIES, SNAPSHOTS],
      [RAISE, TERMINALS, SNAPSHOTS],
    ]) {
      expect(await explain(LOST, after(...steps)), `only ${steps}`).toContain("≠");
    }
  });

  it("has performed all of them when it is answered", async () => {
    const { answer, after, explain } = await openTrim();
    const answered: Outcome = { kind: "answered", answer };
    expect(await explain(answered, after(RAISE, ENTRIES, TERMINALS, SNAPSHOTS))).toBeUndefined();
    for (const steps of [[], [RAISE], [RAISE, ENTRIES], [RAISE, ENTRIES, TERMINALS]]) {
      expect(await explain(answered, after(...steps)), `only ${steps}`).toContain("≠");
    }
  });

  it("answers with the floor that it found", async () => {
    const { answer, after, explain } = await openTrim();
    const wrong: Outcome = { kind: "answered", answer: { ...answer, floor: answer.floor - 1 } };
    expect(await explain(wrong, after(RAISE, ENTRIES, TERMINALS, SNAPSHOTS))).toContain(
      "the reference answers",
    );
  });
});
