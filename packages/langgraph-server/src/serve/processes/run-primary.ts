import cluster, { type Worker } from "node:cluster";
import { type Clock, systemClock, ThroughlineError, type Timer } from "@throughline/ai-core";
import { SETTINGS } from "../../config/settings.js";
import { createLogger, type Logger } from "../../operations/logger.js";
import { openDatabase } from "../open-database.js";
import type { RunServerOptions, Serving } from "../run-server.js";
import { untilEnded } from "../until-ended.js";
import { createMetricsGatherer } from "./gather-metrics.js";
import type { FromProcess } from "./process-message.js";

export interface RunPrimaryOptions extends RunServerOptions {
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
export async function runPrimary(options: RunPrimaryOptions): Promise<number> {
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
