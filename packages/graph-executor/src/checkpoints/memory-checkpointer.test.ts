import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { expect, it } from "vitest";
import { createMemoryCheckpointer } from "./checkpointer.js";

it("has no checkpoint of a thread whose first one is being written", async () => {
  const { saver } = createMemoryCheckpointer();
  const config = { configurable: { thread_id: "t", checkpoint_ns: "" } };
  const checkpoint = emptyCheckpoint();
  const writing = saver.put(config, checkpoint, { source: "input", step: -1, parents: {} }, {});
  expect(await saver.getTuple(config)).toBeUndefined();
  await writing;
  expect((await saver.getTuple(config))?.checkpoint.id).toBe(checkpoint.id);
});
