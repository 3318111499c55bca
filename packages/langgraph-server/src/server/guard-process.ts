import type { Logger } from "../operations/logging.js";

/** `EX_SOFTWARE` of sysexits.h: asks the supervisor to start the process again. */
export const RESTART_EXIT_CODE = 70;

export interface ProcessGuardOptions {
  readonly logger: Pick<Logger, "error" | "fatal">;
  /** Counts an error. An attributed one belonged to one run. */
  readonly strayError: (isAttributed: boolean) => void;
  /** Stops accepting work and hands the runs over. */
  readonly handOver: () => Promise<void>;
  /** How long the hand-over may take. Default 10 s. */
  readonly handOverMs?: number;
  /**
   * Fails the run that the error belongs to; `false` when it belongs to none. Called in the async context of the error.
   * By default no error belongs to a run.
   */
  readonly attribute?: (error: unknown) => boolean;
}

/**
 * Handles errors that reach the process itself. An error that belongs to one run ends that run, and the process goes on.
 * After any other the state of the process is in doubt: it hands its runs over and exits with `RESTART_EXIT_CODE`, at once
 * when a second one comes. Returns a function that removes the handlers.
 */
export function guardProcess({
  logger,
  strayError,
  handOver,
  handOverMs = 10_000,
  attribute = () => false,
}: ProcessGuardOptions): () => void {
  let isFailing = false;

  function belongsToRun(error: unknown): boolean {
    try {
      return attribute(error);
    } catch {
      return false;
    }
  }

  function onStray(error: unknown): void {
    const isAttributed = belongsToRun(error);
    strayError(isAttributed);
    if (isAttributed) {
      logger.error({ err: error }, "A run left this error unhandled, and fails.");
      return;
    }
    if (isFailing) {
      logger.fatal(
        { err: error },
        "A second unhandled error came before the runs were handed over: exiting now.",
      );
      process.exit(RESTART_EXIT_CODE);
    }
    isFailing = true;
    logger.fatal(
      { err: error },
      "An unhandled error belongs to no run: handing over, then exiting to be restarted.",
    );
    setTimeout(() => process.exit(RESTART_EXIT_CODE), handOverMs).unref();
    handOver().then(
      () => process.exit(RESTART_EXIT_CODE),
      // A failed hand-over is the second error.
      onStray,
    );
  }

  /** Ignores EPIPE: a reader of our output that leaves, as `head` does, does not affect our state. */
  function onOutputError(error: NodeJS.ErrnoException): void {
    if (error.code !== "EPIPE") onStray(error);
  }

  process.on("unhandledRejection", onStray);
  process.on("uncaughtException", onStray);
  process.stdout.on("error", onOutputError);
  process.stderr.on("error", onOutputError);
  return () => {
    process.off("unhandledRejection", onStray);
    process.off("uncaughtException", onStray);
    process.stdout.off("error", onOutputError);
    process.stderr.off("error", onOutputError);
  };
}
