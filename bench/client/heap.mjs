// What a page still holds after 200 threads were opened, shown and left, over what it held before.
import { createAgentClient } from "@throughline/agent-client";
import { framesOf, serviceOf } from "./ours.mjs";

const THREADS = 200;
const GC_TIME_MS = 20;

export async function measureHeap() {
  let sink;
  const client = createAgentClient({
    url: "http://bench.invalid",
    gcTime: GC_TIME_MS,
    service: serviceOf((opened) => (sink = opened)),
    schedule(callback) {
      queueMicrotask(callback);
      return () => {};
    },
  });
  async function show(name) {
    const thread = client.thread("langgraph:chat", name);
    const leave = thread.open();
    await Promise.resolve();
    sink.opened();
    const { prelude } = framesOf({ messages: 200, state: {}, events: [] });
    sink.events(0, prelude);
    await Promise.resolve();
    leave();
  }
  for (let warm = 0; warm < 20; warm++) await show(`warm ${warm}`);
  const before = await heapUsed();
  for (let shown = 0; shown < THREADS; shown++) await show(`thread ${shown}`);
  const held = process.memoryUsage().heapUsed;
  const after = await heapUsed();
  client.close();
  return { before, held, after };
}

async function heapUsed() {
  await new Promise((resolve) => setTimeout(resolve, 5 * GC_TIME_MS));
  for (let turn = 0; turn < 3; turn++) {
    globalThis.gc();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return process.memoryUsage().heapUsed;
}
