import { type Clock, systemClock } from "@throughline/ai-core";
import { PICODOLLARS_PER_USD } from "@throughline/billing";
import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from "prom-client";
import type { BillingEvent, RunLabels, ServiceObserver } from "./observer.js";

export interface Metrics {
  readonly contentType: string;
  render(): Promise<string>;
  /** Returns the metrics as data, for `mergeMetrics` with those of other processes. */
  collect(): Promise<readonly MetricData[]>;
  readonly observer: ServiceObserver;
  slowReaderDropped(): void;
  streamOpened(): void;
  streamClosed(): void;
  requestAnswered(route: string, status: number): void;
  /** Counts a request that was refused because of this limit. */
  limitMet(limit: string): void;
  /** Counts an error that reached the process itself. An attributed one belonged to one run, which failed for it. */
  strayError(isAttributed: boolean): void;
  close(): void;
}

export type MetricData = MetricObjectWithValues<MetricValue<string>>;

/** Merges the metrics of several processes: counts are added up, others follow each metric's own rule. */
export function mergeMetrics(each: readonly (readonly MetricData[])[]): Promise<string> {
  return AggregatorRegistry.aggregate(each.map((metrics) => [...metrics])).metrics();
}

/** The interval of the timer that measures the event loop's delay, also while the process is idle. */
const LOOP_PRECISION_MS = 20;

/** Ages of open calls: longer than a model's response, than a tool should take, and than a person waits. */
const OLD_CALL_SECONDS = [60, 600, 3_600];

const OUTCOMES: ReadonlySet<BillingEvent["kind"]> = new Set([
  "priced",
  "in_doubt",
  "refused",
  "served_other",
  "served_unlisted",
  "escaped",
  "unmetered",
]);

interface DrivenHere {
  readonly graph: string;
  readonly attempt: number;
  /** Start times of open calls. */
  readonly calls: Map<string, number>;
  /** Start times of open steps. */
  readonly steps: Map<string, number>;
  /** The time of its newest entry, or of its start. */
  lastEntryAt: number;
}

interface GaugeOptions<T extends string> {
  readonly labelNames?: readonly T[];
  /** How values of the processes of one host are merged. Default: their sum. */
  readonly aggregator?: "sum" | "max" | "min" | "average";
  /** Called before the gauge is read. */
  readonly collect?: (self: Gauge<T>) => void | Promise<void>;
}

/** Metrics of this instance. No label holds an account, a thread or any other data of a tenant. */
export function createMetrics({ clock = systemClock }: { readonly clock?: Clock } = {}): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ service: "throughline" });
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LOOP_PRECISION_MS });
  const registers = [registry];
  const counter = <T extends string>(name: string, help: string, labelNames: readonly T[] = []) =>
    new Counter({ name: `throughline_${name}`, help, labelNames, registers });

  const runsStarted = counter("runs_started_total", "Runs this instance began to drive", ["graph"]);
  const runsEnded = counter("runs_ended_total", "Runs this instance ended", ["graph", "status"]);
  const runsLeft = counter("runs_ended_without_completion_total", "Runs lost, or left before their end", [
    "why",
  ]);
  const busy = counter("busy_total", "Starts refused because the thread has an open run");
  const refused = counter("starts_refused_total", "Starts refused, busy ones included", ["reason"]);
  const limits = counter("limits_met_total", "Requests refused for the sake of a limit", ["limit"]);
  const recoveries = counter("recoveries_total", "Runs that went on here after another attempt left them");
  const appendsRefused = counter("appends_refused_total", "Appends refused by the log's fence", ["reason"]);
  const entries = counter("entries_appended_total", "Log entries appended");
  const replays = counter("replays_total", "Watchers that came, by how they were brought up to date", [
    "how",
  ]);
  const gaps = counter("gaps_total", "Cursors the log could not serve");
  const dropped = counter("slow_readers_dropped_total", "Readers dropped for being too slow");
  const failures = counter("background_failures_total", "Failures in the background, outside of any request");
  const swept = counter("retention_deleted_total", "Rows that rounds of retention deleted", ["kind"]);
  const compacted = counter("entries_compacted_total", "Log entries merged into others");
  const filesSwept = counter(
    "files_swept_total",
    "Files of no message that were deleted, by what they were",
    ["kind"],
  );
  const ticks = counter("cron_ticks_total", "Times that crons were due, by what became of them", ["outcome"]);
  const timesMissed = counter("cron_times_missed_total", "Times of crons that passed without a run");
  const waits = counter("store_waits_total", "Times a driver waited because a store was away");
  const badRows = counter("bad_rows_total", "Stored rows that can't be read and were set aside", ["table"]);
  const strayErrors = counter("stray_errors_total", "Errors that reached the process itself", ["attributed"]);
  const requests = counter("http_requests_total", "Requests answered", ["route", "status"]);
  const modelCalls = counter("model_calls_total", "Model calls, by what became of them", ["outcome"]);
  const spend = counter(
    "spend_usd_total",
    "What model calls of this instance have cost, as far as their answers told it",
  );
  const billingFailed = counter(
    "billing_failed_total",
    "Prices that could not be written when they were known",
  );
  const reconciled = counter("reconciled_calls_total", "Calls that LiteLLM's log decided on, by how", [
    "how",
  ]);
  const awaitedCalls = gauge(
    "awaited_calls",
    "Calls of ended runs on LangGraph servers that LiteLLM's log had not shown by the newest pass",
    { aggregator: "max" },
  );
  const watchers = gauge("watchers", "Watchers on this instance");
  const streams = gauge("open_streams", "Event streams open on this instance");

  const busMessages = counter(
    "bus_messages_total",
    "Messages through Redis; those that are undelivered were told by PostgreSQL",
    ["kind"],
  );
  /** Created only on an instance that has a bus. */
  let busConnected: Gauge | undefined;
  /** Created only on an instance that has a database. */
  let clockError: Gauge | undefined;

  const driven = new Map<string, DrivenHere>();
  gauge("active_runs", "Runs this instance drives now", {
    labelNames: ["graph"],
    collect(self) {
      self.reset();
      for (const { graph } of driven.values()) self.inc({ graph });
    },
  });
  gauge(
    "open_calls_older_than",
    "Model and tool calls of runs driven here that began more than this many seconds ago and have not ended",
    {
      labelNames: ["seconds"],
      collect(self) {
        const begun = [...driven.values()].flatMap(({ calls }) => [...calls.values()]);
        for (const seconds of OLD_CALL_SECONDS) {
          const old = begun.filter((since) => clock.now() - since > seconds * 1_000);
          self.set({ seconds: String(seconds) }, old.length);
        }
      },
    },
  );
  gauge("oldest_open_step_seconds", "Age of the oldest step that is open in a run driven here", {
    aggregator: "max",
    collect: (self) => self.set(ageOf([...driven.values()].flatMap(({ steps }) => [...steps.values()]))),
  });
  gauge("longest_silence_seconds", "Age of the last entry of the run driven here that is silent longest", {
    aggregator: "max",
    collect: (self) => self.set(ageOf([...driven.values()].map(({ lastEntryAt }) => lastEntryAt))),
  });
  const loopLag = registry.getSingleMetric("nodejs_eventloop_lag_p99_seconds");
  gauge("event_loop_lag_p99_seconds", "Event loop delay since the last scrape, 99th percentile", {
    aggregator: "max",
    // Registered before this one, so it is collected before it.
    async collect(self) {
      const measured = await loopLag?.get();
      self.set(measured?.values[0]?.value ?? 0);
    },
  });

  /** Returns the seconds since the earliest of these times; 0 where there is none. */
  function ageOf(times: readonly number[]): number {
    const earliest = times.reduce((least, time) => Math.min(least, time), Number.POSITIVE_INFINITY);
    return Number.isFinite(earliest) ? Math.max(0, clock.now() - earliest) / 1_000 : 0;
  }

  function gauge<T extends string>(
    name: string,
    help: string,
    { labelNames = [], aggregator = "sum", collect }: GaugeOptions<T> = {},
  ): Gauge<T> {
    return new Gauge<T>({
      name: `throughline_${name}`,
      help,
      labelNames,
      aggregator,
      registers,
      ...(collect && {
        collect() {
          return collect(this);
        },
      }),
    });
  }

  /** Forgets one attempt. A run that this instance recovers from itself restarts before its earlier attempt is left. */
  function forget({ runId, attempt }: RunLabels): void {
    if (driven.get(runId)?.attempt === attempt) driven.delete(runId);
  }

  const observer: ServiceObserver = {
    within: (_, work) => work(),
    runStarted({ runId, graphId, attempt }) {
      runsStarted.inc({ graph: graphId });
      const began = { calls: new Map(), steps: new Map(), lastEntryAt: clock.now() };
      driven.set(runId, { graph: graphId, attempt, ...began });
    },
    runEnded(run) {
      runsEnded.inc({ graph: run.graphId, status: run.status });
      if (run.status === "lost") runsLeft.inc({ why: "lost" });
      forget(run);
    },
    graphFailed() {},
    runLeft(run) {
      runsLeft.inc({ why: run.why });
      forget(run);
    },
    startRefused(reason) {
      refused.inc({ reason });
      if (reason === "busy") busy.inc();
    },
    recovered: () => recoveries.inc(),
    entryRecorded({ runId, attempt }) {
      const here = driven.get(runId);
      if (here?.attempt === attempt) here.lastEntryAt = clock.now();
    },
    stepStarted({ runId, attempt }, callId) {
      const here = driven.get(runId);
      if (here?.attempt === attempt) here.steps.set(callId, clock.now());
    },
    stepEnded({ runId, attempt }, callId) {
      const here = driven.get(runId);
      if (here?.attempt === attempt) here.steps.delete(callId);
    },
    callStarted({ runId, attempt }, { callId }) {
      const here = driven.get(runId);
      if (here?.attempt === attempt) here.calls.set(callId, clock.now());
    },
    callEnded({ runId, attempt }, { callId }) {
      const here = driven.get(runId);
      if (here?.attempt === attempt) here.calls.delete(callId);
    },
    appendRefused: (reason) => appendsRefused.inc({ reason }),
    entriesAppended: (count) => entries.inc(count),
    subscriberJoined(how) {
      replays.inc({ how });
      watchers.inc();
    },
    subscriberLeft: () => watchers.dec(),
    gap: () => gaps.inc(),
    cronTicked({ outcome, missed }) {
      ticks.inc({ outcome });
      timesMissed.inc(missed);
    },
    swept({ merged, ...deleted }) {
      compacted.inc(merged);
      for (const [kind, count] of Object.entries(deleted)) swept.inc({ kind }, count);
    },
    filesSwept(swept) {
      for (const [kind, count] of Object.entries(swept)) filesSwept.inc({ kind }, count);
    },
    badRow: ({ table }) => badRows.inc({ table }),
    storeUnavailable: () => waits.inc(),
    clockCompared(errorMs) {
      clockError ??= gauge(
        "clock_error_seconds",
        "How far this instance's clock is ahead of the database's",
        {
          aggregator: "average",
        },
      );
      clockError.set(errorMs / 1_000);
    },
    billed(event) {
      if (event.kind === "priced") spend.inc(Number(event.amount) / Number(PICODOLLARS_PER_USD));
      if (event.kind === "failed") billingFailed.inc();
      if (event.kind === "reconciled") {
        const { facts: _, awaited, ...decided } = event.report;
        awaitedCalls.set(awaited);
        for (const [how, count] of Object.entries(decided)) reconciled.inc({ how }, count);
      } else if (OUTCOMES.has(event.kind)) modelCalls.inc({ outcome: event.kind });
    },
    busChanged({ kind }) {
      busConnected ??= gauge(
        "bus_connected",
        "1 while Redis connects this instance with the others, else 0",
        {
          aggregator: "min",
        },
      );
      busConnected.set(kind === "connected" ? 1 : 0);
    },
    busMessage: (kind) => busMessages.inc({ kind }),
    noticed() {},
    failed: () => failures.inc(),
  };

  return {
    contentType: registry.contentType,
    render: () => registry.metrics(),
    collect: () => registry.getMetricsAsJSON(),
    observer,
    slowReaderDropped: () => dropped.inc(),
    streamOpened: () => streams.inc(),
    streamClosed: () => streams.dec(),
    limitMet: (limit) => limits.inc({ limit }),
    strayError: (isAttributed) => strayErrors.inc({ attributed: String(isAttributed) }),
    requestAnswered: (route, status) => requests.inc({ route, status: String(status) }),
    close: () => registry.clear(),
  };
}
