import { MemorySaver } from "@langchain/langgraph";
import { beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { messageSchema, type RunnableGraph } from "../shared.js";

import type { Command } from "./command.js";
import { sentinelDefinition } from "./graph.js";
import {
  LOG_LIMIT,
  lifecycleSchema,
  logEntrySchema,
  reportSchema,
  settingsSchema,
} from "./sentinel-state.js";

const config = { configurable: { thread_id: "post", offline: { paceMs: 0 } } };
const stateSchema = z.object({
  messages: z.array(messageSchema),
  lifecycle: lifecycleSchema,
  settings: settingsSchema,
  lastAppliedClientMutationId: z.string().nullable(),
  cycleCount: z.number(),
  lastReport: reportSchema.nullable(),
  log: z.array(logEntrySchema),
});
const NOW = { durationMs: 0 };

let graph: RunnableGraph;
let saver: MemorySaver;

beforeEach(() => {
  saver = new MemorySaver();
  const keys = { resolveKey: () => Promise.reject(new Error("The offline model needs no key.")) };
  graph = sentinelDefinition.create({ keys, checkpointer: saver });
});

async function send(command: Command, rest: Record<string, unknown> = {}) {
  return stateSchema.parse(await graph.invoke({ command, ...rest }, config));
}

async function storedState() {
  return stateSchema.parse((await graph.getState(config)).values);
}

describe("the sentinel's commands", () => {
  it("are hired, cycled, synced and fired, and end in a state of the published shape", async () => {
    expect((await send({ name: "hire" })).lifecycle).toBe("hired");
    const cycled = await send({ name: "cycle", args: NOW });
    expect(cycled.cycleCount).toBe(1);
    expect(cycled.lastReport?.text).toMatch(/^Cycle 1: service health at \d+, error rate at \d+\./);
    expect(cycled.messages.map((message) => message.content)).toEqual([cycled.lastReport?.text]);
    await send({ name: "sync", clientMutationId: "m1" }, { settings: { watch: ["queue"] } });
    const fired = await graph.invoke({ command: { name: "fire" } }, config);
    expect(sentinelDefinition.outputSchema.parse(fired)).toMatchObject({
      lifecycle: "fired",
      settings: { watch: ["queue"], cycleSeconds: 60, durationMs: 3000 },
      lastAppliedClientMutationId: "m1",
      cycleCount: 1,
    });
    expect(stateSchema.parse(fired).log.map((entry) => `${entry.command} ${entry.outcome}`)).toEqual([
      "hire done",
      "cycle done",
      "sync done",
      "fire done",
    ]);
  });

  it("acknowledge a sync by its mutation id and leave the id alone otherwise", async () => {
    const synced = await send({ name: "sync", clientMutationId: "m1" }, { settings: { cycleSeconds: 5 } });
    expect(synced.settings.cycleSeconds).toBe(5);
    expect(synced.lastAppliedClientMutationId).toBe("m1");
    expect((await send({ name: "hire", clientMutationId: "m2" })).lastAppliedClientMutationId).toBe("m1");
    expect((await send({ name: "sync" })).lastAppliedClientMutationId).toBe("m1");
  });

  it("acknowledge the same mutation once, however often it is sent", async () => {
    const first = await send({ name: "sync", clientMutationId: "m1" }, { settings: { cycleSeconds: 5 } });
    const again = await send({ name: "sync", clientMutationId: "m1" }, { settings: { cycleSeconds: 5 } });
    expect(again).toEqual(first);
  });

  it("come from the run's configuration, beside the input, and from there into no state either", async () => {
    const commanded = (command: Command) => ({ configurable: { ...config.configurable, command } });
    const hired = await graph.invoke({}, commanded({ name: "hire" }));
    expect(stateSchema.parse(hired).lifecycle).toBe("hired");
    const synced = await graph.invoke(
      { settings: { watch: ["queue"] } },
      commanded({ name: "sync", clientMutationId: "m1" }),
    );
    expect(stateSchema.parse(synced)).toMatchObject({
      settings: { watch: ["queue"] },
      lastAppliedClientMutationId: "m1",
    });
    for await (const snapshot of graph.getStateHistory(config))
      expect(snapshot.values).not.toHaveProperty("command");
    const tuple = await saver.getTuple(config);
    expect(JSON.stringify(tuple)).not.toContain('"name":"sync"');
  });

  it("say so when a cycle comes before the hire, or after the fire, and change nothing", async () => {
    const idle = await send({ name: "cycle" });
    expect(idle).toMatchObject({ lifecycle: "idle", cycleCount: 0, lastReport: null, messages: [] });
    expect(idle.log.at(-1)).toEqual({
      command: "cycle",
      outcome: "refused",
      note: "Not hired yet: send hire first.",
      code: "not_hired",
    });
    await send({ name: "hire" });
    await send({ name: "fire" });
    const fired = await send({ name: "cycle" });
    expect(fired.log.at(-1)).toMatchObject({ outcome: "refused", note: "Fired: send hire to start again." });
  });

  it("start a new count when it is hired again", async () => {
    await send({ name: "hire" });
    await send({ name: "cycle", args: NOW });
    await send({ name: "fire" });
    expect(await send({ name: "hire" })).toMatchObject({ lifecycle: "hired", cycleCount: 0 });
    expect((await send({ name: "hire" })).log.at(-1)).toMatchObject({ outcome: "refused" });
  });

  it("fail with the unknown name and the valid ones, and apply nothing that came along", async () => {
    const run = graph.invoke({ command: { name: "dance" }, settings: { watch: ["x"] } }, config);
    await expect(run).rejects.toMatchObject({
      code: "invalid_input",
      message: 'Unknown command "dance". Valid commands: hire, cycle, sync, fire.',
    });
    expect((await send({ name: "hire" })).settings.watch).not.toContain("x");
  });

  it("refuse settings and arguments that make no sense", async () => {
    await expect(send({ name: "sync" }, { settings: { cycleSeconds: 0 } })).rejects.toThrow("settings");
    await send({ name: "hire" });
    await expect(send({ name: "cycle", args: { durationMs: "soon" } })).rejects.toMatchObject({
      code: "invalid_input",
      details: { field: "durationMs" },
    });
  });

  it("keep a log that does not grow without end", async () => {
    for (let round = 0; round < LOG_LIMIT + 3; round += 1)
      await send({ name: "sync", clientMutationId: `m${round}` });
    expect((await storedState()).log).toHaveLength(LOG_LIMIT);
  });
});

describe("a command", () => {
  it("is in no state: not in the result, not in the final state, not in any checkpoint's values", async () => {
    await send({ name: "hire" });
    expect(await graph.invoke({ command: { name: "cycle", args: NOW } }, config)).not.toHaveProperty(
      "command",
    );
    expect((await graph.getState(config)).values).not.toHaveProperty("command");
    let snapshots = 0;
    for await (const snapshot of graph.getStateHistory(config)) {
      snapshots += 1;
      expect(snapshot.values).not.toHaveProperty("command");
    }
    expect(snapshots).toBeGreaterThan(4);
    const latest = await saver.getTuple(config);
    expect(latest?.checkpoint.channel_values.command).toBeUndefined();
    expect(latest?.checkpoint.channel_values.__start__).toBeUndefined();
    expect(latest?.pendingWrites).toEqual([]);
  });

  it("is gone from the last values that a run streams", async () => {
    await send({ name: "hire" });
    const input = { command: { name: "cycle", args: NOW } };
    const streamed: unknown[] = [];
    for await (const values of await graph.stream(input, { ...config, streamMode: "values" }))
      streamed.push(values);
    expect(JSON.parse(JSON.stringify(streamed.at(-1)))).not.toHaveProperty("command");
  });

  it("is stored whole while its task is pending, so that a crash at that moment does not lose it", async () => {
    await send({ name: "hire" });
    const sends: unknown[] = [];
    for await (const tuple of saver.list(config)) {
      for (const [, channel, value] of tuple.pendingWrites ?? [])
        if (channel === "__pregel_tasks") sends.push(value);
    }
    expect(sends).toEqual([
      expect.objectContaining({ node: "hire", args: expect.objectContaining({ name: "hire" }) }),
    ]);
  });

  it("does not act again on the next run", async () => {
    await send({ name: "hire" });
    const answered = await graph.invoke({ messages: [{ role: "user", content: "Are you there?" }] }, config);
    expect(stateSchema.parse(answered).log).toHaveLength(1);
  });

  it("is still known when a run is taken up again from its checkpoint", async () => {
    await send({ name: "hire" });
    const stop = new AbortController();
    const run = graph.stream(
      { command: { name: "cycle", args: { durationMs: 60_000 } } },
      { ...config, streamMode: "custom", durability: "sync", signal: stop.signal },
    );
    await expect(abortAtFirstChunk(run, stop)).rejects.toThrow("stopped by the test");
    const waiting = await graph.getState(config);
    expect(waiting.next).toEqual(["cycle"]);
    const again = new AbortController();
    const resumed = graph.stream(null, { ...config, streamMode: "custom", signal: again.signal });
    await expect(abortAtFirstChunk(resumed, again)).rejects.toThrow("stopped by the test");
  });
});

async function abortAtFirstChunk(run: Promise<AsyncIterable<unknown>>, stop: AbortController): Promise<void> {
  for await (const _chunk of await run) stop.abort(new Error("stopped by the test"));
}

describe("a cycle", () => {
  it("reports its progress step by step on the custom stream", async () => {
    await send({ name: "hire" }, { settings: { watch: ["queue", "disk"] } });
    const progress: unknown[] = [];
    const input = { command: { name: "cycle", args: NOW } };
    for await (const chunk of await graph.stream(input, { ...config, streamMode: "custom" }))
      progress.push(chunk);
    expect(progress).toEqual([
      { type: "progress", step: 1, of: 3, note: "Looking at queue" },
      { type: "progress", step: 2, of: 3, note: "Looking at disk" },
      { type: "progress", step: 3, of: 3, note: "Writing the report" },
    ]);
  });

  it("stops at once when it is aborted, and leaves the state as it was", async () => {
    await send({ name: "hire" });
    const before = await storedState();
    const stop = new AbortController();
    const input = { command: { name: "cycle", args: { durationMs: 60_000 } } };
    const run = graph.stream(input, { ...config, streamMode: "custom", signal: stop.signal });
    const startedAt = performance.now();
    await expect(abortAtFirstChunk(run, stop)).rejects.toThrow("stopped by the test");
    expect(performance.now() - startedAt).toBeLessThan(2000);
    expect(await storedState()).toEqual(before);
  });

  it("gives the same report for the same cycle, whenever it runs", async () => {
    const reportOf = async (thread_id: string) => {
      const own = { configurable: { ...config.configurable, thread_id } };
      await graph.invoke({ command: { name: "hire" } }, own);
      return stateSchema.parse(await graph.invoke({ command: { name: "cycle", args: NOW } }, own)).lastReport;
    };
    expect(await reportOf("one")).toEqual(await reportOf("two"));
  });

  it("takes its time from the settings unless its arguments say otherwise", async () => {
    await send({ name: "hire" }, { settings: { durationMs: 0 } });
    expect((await send({ name: "cycle" })).cycleCount).toBe(1);
  });
});

describe("a plain message", () => {
  it("gets an answer about the state of things", async () => {
    await send({ name: "hire" });
    const { lastReport } = await send({ name: "cycle", args: NOW });
    const final = await graph.invoke({ messages: [{ role: "user", content: "How is it going?" }] }, config);
    const reply = stateSchema.parse(final).messages.at(-1);
    expect(reply).toMatchObject({ type: "ai" });
    expect(reply?.content).toContain("1 cycle since the hire");
    expect(reply?.content).toContain(lastReport?.text);
  });

  it("is not made up where settings come alone", async () => {
    const final = stateSchema.parse(await graph.invoke({ settings: { watch: ["disk"] } }, config));
    expect(final).toMatchObject({ settings: { watch: ["disk"] }, messages: [], log: [] });
  });
});
