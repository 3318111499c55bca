import { createSimulatedClock } from "@throughline/ai-core";
import { afterEach, describe, expect, it } from "vitest";
import { noteEntry } from "../runs/run-attempt.js";
import { createMetrics, type Metrics, mergeMetrics } from "./metrics.js";
import { NOTHING_SWEPT, type RunLabels } from "./observer.js";

const run: RunLabels = {
  runId: "r1",
  graphId: "langgraph:chat",
  account: "acme",
  traceId: "t",
  attempt: 0,
  traceparent: undefined,
};

describe("metrics", () => {
  let metrics: Metrics;
  afterEach(() => metrics.close());

  async function read(series: string): Promise<number | undefined> {
    const line = (await metrics.render())
      .split("\n")
      .find((each) => each.startsWith(`throughline_${series}`));
    return line === undefined ? undefined : Number(line.split(" ").at(-1));
  }

  it("tell of calls that began long ago and never ended, while their run is driven here", async () => {
    const clock = createSimulatedClock();
    metrics = createMetrics({ clock });
    const { observer } = metrics;
    observer.runStarted(run);
    observer.callStarted(run, { callId: "hangs", kind: "model" });
    observer.callStarted(run, { callId: "answers", kind: "tool" });
    expect(await read('open_calls_older_than{seconds="60"')).toBe(0);
    observer.callEnded(run, { callId: "answers", kind: "tool" });
    clock.advance(601_000);
    expect(await read('open_calls_older_than{seconds="60"')).toBe(1);
    expect(await read('open_calls_older_than{seconds="600"')).toBe(1);
    expect(await read('open_calls_older_than{seconds="3600"')).toBe(0);
    observer.runLeft({ ...run, why: "lost_lease" });
    expect(await read('open_calls_older_than{seconds="60"')).toBe(0);
    expect(await read('runs_ended_without_completion_total{why="lost_lease"')).toBe(1);
  });

  it("show a model that never answers: its step is open, and its run is silent", async () => {
    const clock = createSimulatedClock();
    metrics = createMetrics({ clock });
    const { observer } = metrics;
    expect(await read("oldest_open_step_seconds")).toBe(0);
    expect(await read("longest_silence_seconds")).toBe(0);
    observer.runStarted(run);
    noteEntry(observer, run, { type: "step_start", call_id: "done" });
    clock.advance(100_000);
    noteEntry(observer, run, { type: "step_end", call_id: "done" });
    noteEntry(observer, run, { type: "step_start", call_id: "asks a model that hangs" });
    clock.advance(700_000);
    expect(await read('open_calls_older_than{seconds="60"')).toBe(0);
    expect(await read("oldest_open_step_seconds")).toBe(700);
    expect(await read("longest_silence_seconds")).toBe(700);
    noteEntry(observer, run, { type: "llm_token", call_id: "answers at last" });
    expect(await read("longest_silence_seconds")).toBe(0);
    observer.runEnded({ ...run, status: "success" });
    expect(await read("oldest_open_step_seconds")).toBe(0);
  });

  it("tell whether Redis connects this instance with the others, and what goes through it, where there is one", async () => {
    metrics = createMetrics({ clock: createSimulatedClock() });
    const { observer } = metrics;
    expect(await read("bus_connected")).toBeUndefined();
    observer.busChanged({ kind: "away", reason: new Error("refused") });
    expect(await read("bus_connected{")).toBe(0);
    observer.busChanged({ kind: "connected" });
    expect(await read("bus_connected{")).toBe(1);
    observer.busMessage("received");
    observer.busMessage("received");
    expect(await read('bus_messages_total{kind="received"')).toBe(2);
  });

  it("tell how far this instance's clock is from the database's, where there is one", async () => {
    metrics = createMetrics({ clock: createSimulatedClock() });
    expect(await read("clock_error_seconds")).toBeUndefined();
    metrics.observer.clockCompared(-2_500);
    expect(await read("clock_error_seconds{")).toBe(-2.5);
  });

  it("tell how late the event loop is, by the one monitor that Node's own metrics have", async () => {
    metrics = createMetrics({ clock: createSimulatedClock() });
    const text = await metrics.render();
    const lagOf = (name: string) => new RegExp(`^${name}_p99_seconds\\S* (\\S+)$`, "m").exec(text)?.[1];
    expect(lagOf("throughline_event_loop_lag")).toBeDefined();
    expect(lagOf("throughline_event_loop_lag")).toBe(lagOf("nodejs_eventloop_lag"));
  });

  it("of several processes are added up, but for what is one thing of their host", async () => {
    metrics = createMetrics({ clock: createSimulatedClock() });
    const { observer } = metrics;
    observer.clockCompared(3_000);
    observer.busChanged({ kind: "connected" });
    observer.subscriberJoined("run");
    const each = await metrics.collect();
    observer.busChanged({ kind: "away", reason: new Error("refused") });
    const text = await mergeMetrics([each, await metrics.collect()]);
    expect(text).toMatch(/^throughline_clock_error_seconds\{.*\} 3$/m);
    expect(text).toMatch(/^throughline_bus_connected\{.*\} 0$/m);
    expect(text).toMatch(/^throughline_watchers\{.*\} 2$/m);
    expect(each.find(({ name }) => name === "throughline_event_loop_lag_p99_seconds")?.aggregator).toBe(
      "max",
    );
  });

  it("count a run that is driven anew here once, whatever its earlier attempt still says", async () => {
    metrics = createMetrics({ clock: createSimulatedClock() });
    const { observer } = metrics;
    const again = { ...run, attempt: 1 };
    observer.runStarted(run);
    observer.recovered(again);
    observer.runStarted(again);
    observer.runLeft({ ...run, why: "lost_lease" });
    expect(await read("active_runs")).toBe(1);
    expect(await read("recoveries_total")).toBe(1);
    observer.runEnded({ ...again, status: "lost" });
    expect(await read("active_runs")).toBeUndefined();
    expect(await read('runs_ended_without_completion_total{why="lost"')).toBe(1);
  });

  it("count busy starts, replays, gaps, refused appends, limits, ticks, bad rows, stray errors and what was swept", async () => {
    metrics = createMetrics({ clock: createSimulatedClock() });
    const { observer } = metrics;
    observer.startRefused("busy");
    observer.startRefused("conflict");
    observer.subscriberJoined("resume");
    observer.gap();
    observer.cronTicked({ outcome: "started", missed: 0 });
    observer.cronTicked({ outcome: "missed", missed: 3 });
    observer.appendRefused("fenced");
    observer.swept({ ...NOTHING_SWEPT, entries: 7, merged: 3, checkpoints: 2 });
    metrics.limitMet("maxConcurrentRuns");
    metrics.slowReaderDropped();
    observer.badRow({ table: "crons", id: "c1" });
    metrics.strayError(false);
    expect(await read("busy_total")).toBe(1);
    expect(await read('starts_refused_total{reason="conflict"')).toBe(1);
    expect(await read('replays_total{how="resume"')).toBe(1);
    expect(await read("watchers{")).toBe(1);
    expect(await read("gaps_total")).toBe(1);
    expect(await read('cron_ticks_total{outcome="started"')).toBe(1);
    expect(await read('cron_ticks_total{outcome="missed"')).toBe(1);
    expect(await read("cron_times_missed_total")).toBe(3);
    expect(await read('appends_refused_total{reason="fenced"')).toBe(1);
    expect(await read('retention_deleted_total{kind="entries"')).toBe(7);
    expect(await read('retention_deleted_total{kind="checkpoints"')).toBe(2);
    expect(await read("entries_compacted_total")).toBe(3);
    expect(await read('limits_met_total{limit="maxConcurrentRuns"')).toBe(1);
    expect(await read("slow_readers_dropped_total")).toBe(1);
    expect(await read('bad_rows_total{table="crons"')).toBe(1);
    expect(await read('stray_errors_total{attributed="false"')).toBe(1);
    expect(await read("event_loop_lag_p99_seconds")).toBeGreaterThanOrEqual(0);
  });
});
