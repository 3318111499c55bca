import type { Worker } from "node:cluster";
import cluster from "node:cluster";
import { type Clock, systemClock, ThroughlineError, type Timer } from "@throughline/ai-core";
import { createLogger, type Logger } from "../../operations/logging.js";
import { type MetricData, mergeMetrics } from "../../operations/metrics.js";
import { SETTINGS } from "../../settings/settings.js";
import { openDatabase } from "../database.js";
import { type RunServerOptions, runServer, type ServerInfo, untilShutdown } from "../run-server.js";
import { noGraphs } from "../start-server.js";
import { type FromProcess, runChild, type ToProcess } from "./child.js";

interface RunPrimaryOptions extends RunServerOptions {
  /** The program and arguments that start each process; they lead to `runChild` there. */
  readonly program: {
    readonly script: string;
    readonly args: readonly string[];
    readonly env: Readonly<Record<string, string>>;
  };
}

const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 10_000;
/** Time in addition to the runs' drain time, for streams to be notified and connections to close. */
const EXTRA_STOP_MS = 10_000;

/** Owns the port and the embedded database, starts the processes that serve, and replaces one that dies. */
async function runPrimary(options: RunPrimaryOptions): Promise<number> {
  const { config, program, onEvent } = options;
  const startedAt = systemClock.now();
  const ended = untilShutdown(options.signal);
  const logger = createLogger({ level: config.logLevel });
  const database = await openDatabase(config, (line) => onEvent({ kind: "progress", line }));
  cluster.setupPrimary({ exec: program.script, args: [...program.args] });
  const workers = startWorkers({
    count: config.processes,
    fork: () => cluster.fork({ ...program.env, [SETTINGS.databaseUrl.env]: database.url }),
    clock: systemClock,
    logger,
    onEvent,
  });
  try {
    const first = await Promise.race([workers.serving, ended]);
    if (typeof first !== "number") {
      onEvent({ kind: "started", tookMs: systemClock.now() - startedAt });
      await options.onServing(first);
    }
    return await ended;
  } finally {
    await workers.stop(config.drainMs + EXTRA_STOP_MS);
    await database.stop();
  }
}

interface WorkersOptions {
  readonly onEvent: RunPrimaryOptions["onEvent"];
  readonly count: number;
  readonly fork: () => Worker;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Starts `count` processes, one per slot, and restarts one that dies. */
function startWorkers({ count, fork, clock, logger, onEvent }: WorkersOptions) {
  const workers = new Map<number, Worker>();
  const serving = new Map<number, ServerInfo>();
  const timers = new Set<Timer>();
  const metrics = createMetricsGatherer({ clock, processes: () => [...workers.values()] });
  let isStopping = false;
  let started = (_: ServerInfo) => {};
  let failed = (_: Error) => {};
  const allServing = new Promise<ServerInfo>((resolve, reject) => {
    started = resolve;
    failed = reject;
  });
  allServing.catch(() => {});
  let isStarted = false;

  function begin(slot: number, delayMs: number): void {
    const worker = fork();
    workers.set(slot, worker);
    worker.on("message", (message: FromProcess) => {
      switch (message.kind) {
        case "serving":
          delayMs = FIRST_DELAY_MS;
          if (isStarted) logger.info({ pid: worker.process.pid }, "The process that took its place serves.");
          serving.set(slot, message.serving);
          if (serving.size === count && !isStarted) {
            isStarted = true;
            started(message.serving);
          }
          break;
        case "news":
          // All processes reload a project; one of them reports it.
          if (slot === 0 && isStarted) onEvent(message.news);
          break;
        default:
          metrics.received(worker, message);
      }
    });
    worker.on("exit", (code, signal) => {
      workers.delete(slot);
      metrics.disconnected(worker);
      if (isStopping) return;
      // A process that can't start has logged its reason.
      if (!isStarted)
        return failed(new ThroughlineError("internal", "A process of the service did not start."));
      logger.error(
        { code, signal, pid: worker.process.pid },
        "A process of the service died; another takes its place.",
      );
      const timer = clock.schedule(delayMs, () => {
        timers.delete(timer);
        begin(slot, Math.min(delayMs * 2, LONGEST_DELAY_MS));
      });
      timers.add(timer);
    });
  }

  for (let slot = 0; slot < count; slot += 1) begin(slot, FIRST_DELAY_MS);

  return {
    /** Resolves when all processes serve. */
    serving: allServing,
    async stop(patienceMs: number): Promise<void> {
      isStopping = true;
      for (const timer of timers) timer.cancel();
      const running = [...workers.values()];
      const exits = running.map((worker) => new Promise((resolve) => worker.once("exit", resolve)));
      for (const worker of running) worker.process.kill("SIGTERM");
      const patience = clock.schedule(patienceMs, () => {
        for (const worker of workers.values()) worker.process.kill("SIGKILL");
      });
      await Promise.all(exits);
      patience.cancel();
    },
  };
}

/** Serves with the configured number of processes until shutdown, and returns the exit code. */
export async function runProcesses(options: RunPrimaryOptions): Promise<number> {
  if (options.project === undefined && options.config.backend.kind === "inproc") throw noGraphs();
  if (options.config.processes === 1) return runServer(options);
  return cluster.isPrimary ? runPrimary(options) : runChild(options);
}

/** A serving process, as the primary sees it. */
export interface MeasuredProcess {
  isConnected(): boolean;
  send(message: ToProcess): unknown;
}

type MetricsMessage = Extract<FromProcess, { kind: "render_metrics" | "metrics" }>;

interface Gathering {
  readonly missing: Set<MeasuredProcess>;
  readonly gathered: (readonly MetricData[])[];
  readonly timer: Timer;
  finish(): void;
}

/** A process that is busy for longer is left out this time. */
const PATIENCE_MS = 1_000;

/** Gathers the metrics of all processes for a request to `/metrics`, which reaches one of them. */
function createMetricsGatherer({
  clock,
  processes,
}: {
  readonly clock: Clock;
  readonly processes: () => readonly MeasuredProcess[];
}) {
  const gatherings = new Map<number, Gathering>();
  let lastId = 0;

  function gather(asker: MeasuredProcess, askedId: number): void {
    lastId += 1;
    const id = lastId;
    const all = processes().filter((one) => one.isConnected());
    const gathering: Gathering = {
      missing: new Set(all),
      gathered: [],
      timer: clock.schedule(PATIENCE_MS, () => gathering.finish()),
      finish() {
        gathering.timer.cancel();
        gatherings.delete(id);
        mergeMetrics(gathering.gathered).then(
          (text) => answer(asker, askedId, text),
          () => answer(asker, askedId, undefined),
        );
      },
    };
    gatherings.set(id, gathering);
    for (const one of all) one.send({ kind: "collect_metrics", id });
  }

  function answer(asker: MeasuredProcess, id: number, text: string | undefined): void {
    if (asker.isConnected()) asker.send({ kind: "rendered_metrics", id, text });
  }

  function without(gathering: Gathering, process: MeasuredProcess): void {
    if (gathering.missing.delete(process) && gathering.missing.size === 0) gathering.finish();
  }

  return {
    received(process: MeasuredProcess, message: MetricsMessage): void {
      if (message.kind === "render_metrics") {
        gather(process, message.id);
        return;
      }
      const gathering = gatherings.get(message.id);
      if (!gathering?.missing.has(process)) return;
      gathering.gathered.push(message.metrics);
      without(gathering, process);
    },
    disconnected(process: MeasuredProcess): void {
      for (const gathering of gatherings.values()) without(gathering, process);
    },
  };
}
