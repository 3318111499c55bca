import { monitorEventLoopDelay } from "node:perf_hooks";
import { type Clock, systemClock } from "@throughline/ai-core";
import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { ServiceObserver } from "../drive/service-observer.js";

export interface Metrics {
  readonly contentType: string;
  render(): Promise<string>;
  readonly observer: ServiceObserver;
  slowReaderDropped(): void;
  streamOpened(): void;
  streamClosed(): void;
  requestAnswered(route: string, status: number): void;
  close(): void;
}

const OLD_RUN_SECONDS = [60, 600, 3_600];

/** Numbers about this instance. No label holds an account, a thread or anything else of a tenant's. */
export function createMetrics({ clock = systemClock }: { readonly clock?: Clock } = {}): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ service: "throughline" });
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const counter = <T extends string>(name: string, help: string, labelNames: readonly T[] = []) =>
    new Counter({ name: `throughline_${name}`, help, labelNames, registers });

  const runsStarted = counter("runs_started_total", "Runs this instance began to drive", ["graph"]);
  const runsEnded = counter("runs_ended_total", "Runs this instance ended", ["graph", "status"]);
  const runsLeft = counter(
    "runs_ended_without_completion_total",
    "Runs lost, or left before their end because a lease was lost or handed over",
    ["why"],
  );
  const refused = counter("starts_refused_total", "Starts refused", ["reason"]);
  const takeovers = counter("takeovers_total", "Runs taken up from another instance or an earlier life");
  const appendsRefused = counter("appends_refused_total", "Appends refused by the log's fence", ["reason"]);
  const entries = counter("entries_appended_total", "Log entries appended");
  const joins = counter("watcher_joins_total", "Watchers that came, by how they were brought up to date", [
    "how",
  ]);
  const gaps = counter("gaps_total", "Cursors the log could not serve");
  const dropped = counter("slow_readers_dropped_total", "Readers dropped for being too slow");
  const failures = counter("background_failures_total", "Failures nobody was waiting for");
  const requests = counter("http_requests_total", "Requests answered", ["route", "status"]);
  const watchers = gauge("watchers", "Watchers on this instance");
  const streams = gauge("open_streams", "Event streams open on this instance");

  const open = new Map<string, { readonly graph: string; readonly since: number }>();
  gauge("active_runs", "Runs this instance drives now", ["graph"], (self) => {
    self.reset();
    for (const { graph } of open.values()) self.inc({ graph });
  });
  gauge("open_runs_older_than", "Runs driven here for longer than this many seconds", ["seconds"], (self) => {
    for (const seconds of OLD_RUN_SECONDS) {
      const old = [...open.values()].filter(({ since }) => clock.now() - since > seconds * 1_000);
      self.set({ seconds: String(seconds) }, old.length);
    }
  });
  const loop = monitorEventLoopDelay({ resolution: 20 });
  loop.enable();
  gauge(
    "event_loop_lag_p99_seconds",
    "Event loop delay since the last scrape, 99th percentile",
    [],
    (self) => {
      self.set(loop.percentile(99) / 1e9);
      loop.reset();
    },
  );

  function gauge<T extends string>(
    name: string,
    help: string,
    labelNames: readonly T[] = [],
    collect?: (self: Gauge<T>) => void,
  ): Gauge<T> {
    return new Gauge<T>({
      name: `throughline_${name}`,
      help,
      labelNames,
      registers,
      ...(collect && {
        collect() {
          collect(this);
        },
      }),
    });
  }

  const observer: ServiceObserver = {
    runStarted({ runId, graphId }) {
      runsStarted.inc({ graph: graphId });
      open.set(runId, { graph: graphId, since: clock.now() });
    },
    runEnded({ runId, graphId, status }) {
      runsEnded.inc({ graph: graphId, status });
      if (status === "lost") runsLeft.inc({ why: "lost" });
      open.delete(runId);
    },
    runLeft({ runId, why }) {
      runsLeft.inc({ why });
      open.delete(runId);
    },
    startRefused: (reason) => refused.inc({ reason }),
    takenOver: () => takeovers.inc(),
    appendRefused: (reason) => appendsRefused.inc({ reason }),
    entriesAppended: (count) => entries.inc(count),
    watcherJoined(how) {
      joins.inc({ how });
      watchers.inc();
    },
    watcherLeft: () => watchers.dec(),
    gap: () => gaps.inc(),
    failed: () => failures.inc(),
  };

  return {
    contentType: registry.contentType,
    render: () => registry.metrics(),
    observer,
    slowReaderDropped: () => dropped.inc(),
    streamOpened: () => streams.inc(),
    streamClosed: () => streams.dec(),
    requestAnswered: (route, status) => requests.inc({ route, status: String(status) }),
    close() {
      loop.disable();
      registry.clear();
    },
  };
}
