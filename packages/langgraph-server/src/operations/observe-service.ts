import type { ServiceObserver } from "../drive/service-observer.js";
import type { AccountUsage } from "../tenancy/account-limits.js";
import type { Logger } from "./logger.js";
import type { Metrics } from "./metrics.js";

export interface ServiceObservation {
  readonly metrics: Metrics;
  readonly usage: AccountUsage;
  readonly logger: Logger;
}

/** Counts what the service does, writes down what a person may want to look up, and frees the places of runs that ended. */
export function observeService({
  metrics: { observer },
  usage,
  logger,
}: ServiceObservation): ServiceObserver {
  return {
    ...observer,
    runStarted(run) {
      observer.runStarted(run);
      logger.info(run, "run started");
    },
    runEnded(run) {
      observer.runEnded(run);
      usage.runEnded(run.runId);
      logger.info(run, "run ended");
    },
    runLeft(run) {
      observer.runLeft(run);
      usage.runEnded(run.runId);
      logger.warn(run, "run left");
    },
    takenOver(run) {
      observer.takenOver(run);
      logger.warn(run, "run taken over");
    },
    failed(message, error) {
      observer.failed(message, error);
      logger.error({ err: error }, message);
    },
  };
}
