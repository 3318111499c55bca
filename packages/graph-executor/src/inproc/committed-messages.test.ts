import { randomUUID } from "node:crypto";
import type { RunnableConfig } from "@langchain/core/runnables";
import {
  type CheckpointListOptions,
  type CheckpointTuple,
  emptyCheckpoint,
  MemorySaver,
} from "@langchain/langgraph-checkpoint";
import { expect, it } from "vitest";
import { RUN_METADATA_KEY } from "../checkpoints/run-saver.js";
import { committedMessages } from "./committed-messages.js";

/** Counts the checkpoints that each list would load. */
class CountingSaver extends MemorySaver {
  readonly loaded: number[] = [];

  override async *list(
    config: RunnableConfig,
    options?: CheckpointListOptions,
  ): AsyncGenerator<CheckpointTuple> {
    const tuples: CheckpointTuple[] = [];
    for await (const tuple of super.list(config, options)) tuples.push(tuple);
    this.loaded.push(tuples.length);
    yield* tuples;
  }
}

async function fill(saver: MemorySaver, threadId: string, runs: readonly string[]): Promise<void> {
  for (const [step, run] of runs.entries()) {
    const checkpoint = {
      ...emptyCheckpoint(),
      id: `1f0${String(step).padStart(5, "0")}-0000-6000-8000-000000000000`,
    };
    const config = { configurable: { thread_id: threadId, checkpoint_ns: "", checkpoint_id: checkpoint.id } };
    const metadata = { source: "loop" as const, step, parents: {}, [RUN_METADATA_KEY]: run };
    await saver.put(config, checkpoint, metadata);
    await saver.putWrites(config, [["messages", run]], `task-${step}`);
  }
}

it("reads a long thread page by page, and no further than the newest run reaches", async () => {
  const saver = new CountingSaver();
  const threadId = randomUUID();
  await fill(saver, threadId, [...Array(500).fill("old"), ...Array(30).fill("new")]);
  const streamed = [
    { messageId: "of the run", ns: ["node:task-505"], step: 1_000 },
    { messageId: "of one before", ns: ["node:task-3"], step: 1_000 },
  ];
  expect(await committedMessages(saver, threadId, streamed)).toEqual(new Set(["of the run"]));
  expect(saver.loaded).toEqual([20, 20]);
});
