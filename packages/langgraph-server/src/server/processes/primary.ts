import type { Worker } from "node:cluster";
import cluster from "node:cluster";
import { type Clock, systemClock, ThroughlineError, type Timer } from "@throughline/ai-core";
import { createLogger, type Logger } from "../../operations/logging.js";
import { addMetrics, type MetricData } from "../../operations/metrics.js";
import { SETTINGS } from "../../settings/settings.js";
import { openDatabase } from "../database.js";
import { type RunServerOptions, runServer, type Serving, untilEnded } from "../run-server.js";
import { noGraphs } from "../start-server.js";
import { type FromProcess, runChild, type ToProcess } from "./child.js";

interface RunPrimaryOptions extends RunServerOptions {
  /** The program and the arguments that each process is started with, and that lead to `runChild` there. */
  readonly program: {
    readonly script: string;
    readonly args: readonly string[];
    readonly env: Readonly<Record<string, string>>;
  };
}

const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 10_000;
/** Beyond the time that runs have, for streams to be told and connections to close. */
const EXTRA_STOP_MS = 10_000;

/** Owns the port and the embedded database, starts the processes that serve, and replaces one that dies. */
async function runPrimary(options: RunPrimaryOptions): Promise<number> {
  const { config, program, tell } = options;
  const startedAt = systemClock.now();
  const ended = untilEnded(options.signal);
  const logger = createLogger({ level: config.logLevel });
  const database = await openDatabase(config, (line) => tell({ kind: "progress", line }));
  cluster.setupPrimary({ exec: program.script, args: [...program.args] });
  const crew = startCrew({
    count: config.processes,
    fork: () => cluster.fork({ ...program.env, [SETTINGS.databaseUrl.env]: database.url }),
    clock: systemClock,
    logger,
    tell,
  });
  try {
    const first = await Promise.race([crew.serving, ended]);
    if (typeof first !== "number") {
      tell({ kind: "started", tookMs: systemClock.now() - startedAt });
      await options.onServing(first);
    }
    return await ended;
  } finally {
    await crew.stop(config.drainMs + EXTRA_STOP_MS);
    await database.stop();
  }
}

interface CrewOptions extends Pick<RunPrimaryOptions, "tell"> {
  readonly count: number;
  readonly fork: () => Worker;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** As many processes as are wanted, one for each place. */
function startCrew({ count, fork, clock, logger, tell }: CrewOptions) {
  const crew = new Map<number, Worker>();
  const serving = new Map<number, Serving>();
  const timers = new Set<Timer>();
  const metrics = createMetricsGatherer({ clock, processes: () => [...crew.values()] });
  let isStopping = false;
  let started = (_: Serving) => {};
  let failed = (_: Error) => {};
  const allServing = new Promise<Serving>((resolve, reject) => {
    started = resolve;
    failed = reject;
  });
  allServing.catch(() => {});
  let isStarted = false;

  function begin(place: number, delayMs: number): void {
    const worker = fork();
    crew.set(place, worker);
    worker.on("message", (message: FromProcess) => {
      switch (message.kind) {
        case "serving":
          delayMs = FIRST_DELAY_MS;
          if (isStarted) logger.info({ pid: worker.process.pid }, "The process that took its place serves.");
          serving.set(place, message.serving);
          if (serving.size === count && !isStarted) {
            isStarted = true;
            started(message.serving);
          }
          break;
        case "news":
          // All of them read a project again; one says so.
          if (place === 0 && isStarted) tell(message.news);
          break;
        default:
          metrics.heard(worker, message);
      }
    });
    worker.on("exit", (code, signal) => {
      crew.delete(place);
      metrics.left(worker);
      if (isStopping) return;
      // What can't start has said why.
      if (!isStarted)
        return failed(new ThroughlineError("internal", "A process of the service did not start."));
      logger.error(
        { code, signal, pid: worker.process.pid },
        "A process of the service died; another takes its place.",
      );
      const timer = clock.schedule(delayMs, () => {
        timers.delete(timer);
        begin(place, Math.min(delayMs * 2, LONGEST_DELAY_MS));
      });
      timers.add(timer);
    });
  }

  for (let place = 0; place < count; place += 1) begin(place, FIRST_DELAY_MS);

  return {
    /** Resolves when all of them serve. */
    serving: allServing,
    async stop(patienceMs: number): Promise<void> {
      isStopping = true;
      for (const timer of timers) timer.cancel();
      const workers = [...crew.values()];
      const exits = workers.map((worker) => new Promise((resolve) => worker.once("exit", resolve)));
      for (const worker of workers) worker.process.kill("SIGTERM");
      const patience = clock.schedule(patienceMs, () => {
        for (const worker of crew.values()) worker.process.kill("SIGKILL");
      });
      await Promise.all(exits);
      patience.cancel();
    },
  };
}

/** Serves with as many processes as are set, until it is told to end, and returns the exit code. */
export async function runProcesses(options: RunPrimaryOptions): Promise<number> {
  if (options.project === undefined && options.config.backend.kind === "inproc") throw noGraphs();
  if (options.config.processes === 1) return runServer(options);
  return cluster.isPrimary ? runPrimary(options) : runChild(options);
}

/** A process that serves, as the one that started it sees it. */
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

/** A process that is busy for longer is left out, and counted again the next time. */
const PATIENCE_MS = 1_000;

/** A request for `/metrics` reaches one process; it is answered with those of all. */
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
        addMetrics(gathering.gathered).then(
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
    heard(process: MeasuredProcess, message: MetricsMessage): void {
      if (message.kind === "render_metrics") {
        gather(process, message.id);
        return;
      }
      const gathering = gatherings.get(message.id);
      if (!gathering?.missing.has(process)) return;
      gathering.gathered.push(message.metrics);
      without(gathering, process);
    },
    left(process: MeasuredProcess): void {
      for (const gathering of gatherings.values()) without(gathering, process);
    },
  };
}
