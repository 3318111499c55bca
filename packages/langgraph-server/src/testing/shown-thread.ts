import { expect } from "vitest";
import type { ThreadAddress } from "../threads/thread-address.js";
import type { RecordedFrame } from "./frame-recorder.js";
import type { ServiceScene } from "./service-scene.js";
import { type StockView, stockView } from "./stock-view.js";

/** R6: what a stock client shows after these frames is what the checkpoint holds: nothing lost, nothing doubled. */
export async function expectCheckpoint(
  scene: Pick<ServiceScene, "service">,
  thread: ThreadAddress,
  frames: readonly RecordedFrame[],
): Promise<void> {
  const checkpoint = await scene.service.state.getState({
    graphId: thread.graphId,
    threadId: thread.ref.threadId,
  });
  const view = await stockView(frames);
  expect(texts(view)).toEqual(
    (checkpoint?.messages ?? []).map(({ id, content }) => `${id}: ${JSON.stringify(content)}`).sort(),
  );
}

/** In any order: results of parallel calls stand in the order in which they came. Thoughts are no part of a checkpoint. */
function texts({ messages }: StockView): readonly string[] {
  return messages
    .filter(({ role }) => role !== "reasoning")
    .map(({ id, content }) => `${id}: ${JSON.stringify(content ?? "")}`)
    .sort();
}
