import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSimulatedClock, type Envelope, type Message, type UpstreamChunk } from "@throughline/ai-core";
import { createInProcProvider, type GraphProvider, type GraphSource } from "@throughline/graph-executor";
import {
  createService,
  type RunInput,
  type Service,
  type StartRunRequest,
  type SubscribeFrom,
  threadAddress,
} from "@throughline/langgraph-server";
import { createMemoryRunRegistry } from "@throughline/thread-log";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { expectTakeover, type Fate } from "../server/graphs/takeover-law.js";
import { readMarks } from "../server/graphs/workshop.js";
import { workshopGraphs } from "../server/graphs/workshop-graphs.js";
import { messageLines } from "../server/stock/message-lines.js";
import { leftBehind, newMemory, type SharedMemory } from "./left-behind.js";
import { type Frame, recordFrames } from "./recorded-watch.js";
import { stockView } from "./stock-watcher.js";

let folder: string;
let graphs: GraphSource;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "throughline-workshop-"));
  graphs = workshopGraphs({ folder, paceMs: 0, toolMs: 0 });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const caller = { billingAccountId: "acme", virtualKeyId: "key-1", traceId: "trace-1" };
const thread = threadAddress(caller, "workshop", "door");
const GO: RunInput = { kind: "input", messages: [{ id: "user-1", role: "user", content: "A door, please" }] };
const BRASS: RunInput = { kind: "answer", value: "brass" };
/** Longer than any window in which tokens are coalesced: what was streamed is on its way to the log. */
const BETWEEN_CHUNKS_MS = 100;

/** All that is there when a process is killed, and what the one who watched it had seen. */
interface Crash {
  readonly memory: SharedMemory;
  /** A stream for each run it watched; the last one was cut. */
  readonly seen: readonly (readonly Frame[])[];
  readonly marks: readonly string[];
}

async function start(service: Service, input: RunInput): Promise<string> {
  const request: StartRunRequest = {
    thread,
    caller,
    ingressRequestId: "request",
    input,
    tools: [],
    context: [],
    profile: "user",
    strategy: "reject",
  };
  const outcome = await service.runs.start(request);
  if (outcome.kind !== "started") throw new Error(`Expected a run to start, it is ${outcome.kind}.`);
  return outcome.run.runId;
}

async function run(service: Service, input: RunInput): Promise<readonly Frame[]> {
  const watch = recordFrames(service.hub, thread, { kind: "run", runId: await start(service, input) });
  await watch.ended;
  return watch.frames;
}

/** Runs the inputs in turn to their ends. Of the last one it keeps what a kill would have left after each chunk. */
async function crashesOf(inputs: readonly RunInput[], lag: number): Promise<readonly Crash[]> {
  const memory = newMemory();
  const clock = createSimulatedClock(Date.now());
  const crashes: Crash[] = [];
  let isLast = inputs.length === 1;
  const seen: (readonly Frame[])[] = [];
  lagBehind(memory, lag);
  const provider = createInProcProvider({
    graphs,
    checkpointer: memory.checkpointer.saver,
    lease: createMemoryRunRegistry(memory.database),
  });
  const service = await createService({
    store: { kind: "memory", shared: memory },
    clock,
    graphs: afterEachChunk(provider, () => {
      clock.advance(BETWEEN_CHUNKS_MS);
      if (!isLast) return;
      crashes.push({
        memory: leftBehind(memory),
        seen: seen.map((frames) => [...frames]),
        marks: readMarks(folder, thread.ref.threadId),
      });
    }),
  });
  try {
    for (const input of inputs.slice(0, -1)) seen.push(await run(service, input));
    isLast = true;
    const runId = await start(service, inputs.at(-1) ?? GO);
    const watch = recordFrames(service.hub, thread, { kind: "run", runId });
    seen.push(watch.frames);
    await watch.ended;
    return crashes;
  } finally {
    await service.close();
  }
}

function afterEachChunk(provider: GraphProvider, then: () => void): GraphProvider {
  async function* watched(stream: AsyncIterable<UpstreamChunk>): AsyncGenerator<UpstreamChunk> {
    for await (const chunk of stream) {
      yield chunk;
      then();
    }
  }
  return {
    ...provider,
    runGraph(request) {
      const { stream, final } = provider.runGraph(request);
      return { stream: watched(stream), final };
    },
  };
}

/** As a database is: a write is there a while after it was asked for, and chunks run ahead of it. */
function lagBehind({ checkpointer: { saver } }: SharedMemory, turns: number): void {
  const wait = async () => {
    for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
  };
  const { put, putWrites } = saver;
  saver.put = async (...write) => {
    await wait();
    return put.apply(saver, write);
  };
  saver.putWrites = async (...write) => {
    await wait();
    return putWrites.apply(saver, write);
  };
}

async function messagesOf({ state }: Service): Promise<readonly Message[]> {
  const { graphId, ref } = thread;
  return (await state.getState({ graphId, threadId: ref.threadId }))?.messages ?? [];
}

async function logOf({ log }: Service): Promise<readonly Envelope[]> {
  const page = await log.read(thread.ref, undefined, 100_000);
  if (page.kind !== "entries") throw new Error(`Expected entries, got a ${page.kind}.`);
  return page.entries.map(({ envelope }) => envelope);
}

const terminalsOf = (frames: readonly Frame[]) =>
  frames.map(({ data }) => data.type).filter((type) => type === "RUN_FINISHED" || type === "RUN_ERROR");

/** Another instance finds what was left behind, takes the run up and ends it; the watcher comes back to that instance. */
async function takeUp({ memory, seen, marks }: Crash, answers: readonly RunInput[]): Promise<Fate> {
  writeFileSync(join(folder, `${thread.ref.threadId}.marks`), marks.map((mark) => `${mark}\n`).join(""));
  const failures: unknown[] = [];
  const service = await createService({
    store: { kind: "memory", shared: memory },
    graphs,
    observer: { failed: (message, error) => void failures.push([message, error]) },
  });
  try {
    const cursor = seen.flat().findLast(({ id }) => id !== undefined)?.id;
    const from: SubscribeFrom = cursor === undefined ? { kind: "nothing" } : { kind: "cursor", cursor };
    const returned = recordFrames(service.hub, thread, from);
    expect(await returned.ended).toBe("done");
    expect(terminalsOf(returned.frames)).toEqual(["RUN_FINISHED"]);
    const checkpoint = await messagesOf(service);
    expect(await stockView(...seen, returned.frames)).toEqual(messageLines(checkpoint));
    const fresh = recordFrames(service.hub, thread, { kind: "nothing" });
    await fresh.ended;
    expect(await stockView(fresh.frames)).toEqual(messageLines(checkpoint));
    const fate = expectTakeover({
      log: await logOf(service),
      checkpoint,
      marks: readMarks(folder, thread.ref.threadId),
      isAnswered: answers.length === 0,
    });
    for (const answer of answers) expect(terminalsOf(await run(service, answer))).toEqual(["RUN_FINISHED"]);
    expect(failures).toEqual([]);
    return fate;
  } finally {
    await service.close();
  }
}

describe.each([0, 3])("A run killed after any of its chunks, its checkpoints %i turns late,", (lag) => {
  it.each([
    ["from its first word to its question", [GO], [BRASS]],
    ["from its answer to its end", [GO, BRASS], []],
  ] satisfies [string, RunInput[], RunInput[]][])(
    "%s, is taken up: what its checkpoint holds is shown once, and nothing else",
    async (_, inputs, answers) => {
      const crashes = await crashesOf(inputs, lag);
      const fates: Fate[] = [];
      for (const [index, crash] of crashes.entries()) {
        const fate = await takeUp(crash, answers).catch((error) => {
          throw new Error(`Killed after chunk ${index} of ${crashes.length}.`, { cause: error });
        });
        fates.push(fate);
      }
      expect(fates.some(({ kept }) => kept > 0)).toBe(true);
      expect(fates.some(({ retracted }) => retracted > 0)).toBe(true);
    },
    240_000,
  );
});
