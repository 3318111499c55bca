import {
  type DestinationStream,
  type LevelWithSilent,
  type Logger,
  type LoggerOptions as PinoOptions,
  pino,
} from "pino";
import type { Metrics } from "./metrics.js";
import type { RunLabels, ServiceObserver } from "./observer.js";
import { describeError } from "./redaction.js";
import { createRunSpans } from "./tracing.js";

export type { Logger } from "pino";

/** Field names that are never logged: credentials, and the contents of conversations. */
const SECRET = [
  "authorization",
  "cookie",
  "token",
  "secret",
  "password",
  "apiKey",
  "databaseUrl",
  "databaseDirectUrl",
  "redisUrl",
];
const CONTENT_FIELDS = ["messages", "content", "prompt", "state", "input", "text"];

export interface LoggerOptions {
  readonly level: LevelWithSilent;
  readonly destination?: DestinationStream;
}

export function createLogger({ level, destination }: LoggerOptions): Logger {
  const names = [...SECRET, ...CONTENT_FIELDS];
  const withStack = level === "debug" || level === "trace";
  const options: PinoOptions = {
    level,
    base: { service: "throughline" },
    redact: { paths: names.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: "[left out]" },
    serializers: { err: (error: unknown) => describeError(error, { withStack }) },
    hooks: {
      // Pino uses the raw message of an error that is logged without one.
      logMethod(args, method) {
        const [first, message] = args;
        const error: unknown = first instanceof Error ? first : isFields(first) ? first.err : undefined;
        if (message !== undefined || error === undefined) return method.apply(this, args);
        const fields = isFields(first) && !(first instanceof Error) ? first : { err: error };
        method.apply(this, [fields, describeError(error, { withStack }).message ?? ""]);
      },
    },
  };
  return destination ? pino(options, destination) : pino(options);
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

export interface ServiceObservation {
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** Creates the observer that feeds metrics, traces runs, and logs events for operators. */
export function logEvents({ metrics: { observer }, logger }: ServiceObservation): ServiceObserver {
  const spans = createRunSpans();
  return {
    ...observer,
    runStarted(run) {
      observer.runStarted(run);
      spans.runStarted(run);
      logger.info(named(run), "run started");
    },
    within: spans.within,
    runEnded(run) {
      observer.runEnded(run);
      spans.runEnded(run);
      logger.info({ ...named(run), status: run.status }, "run ended");
    },
    graphFailed(run, failure) {
      observer.graphFailed(run, failure);
      const { class: kind, node, error } = failure;
      // The stack is always logged: an operator needs the line that threw, at every log level.
      const described = describeError(error, { withStack: true });
      logger.error({ ...named(run), class: kind, node, error: described }, "graph failed");
    },
    runLeft(run) {
      observer.runLeft(run);
      spans.runLeft(run);
      logger[run.why === "deleted" ? "info" : "warn"]({ ...named(run), why: run.why }, "run left");
    },
    recovered(run) {
      observer.recovered(run);
      logger.warn(named(run), "run recovered");
    },
    swept(deleted) {
      observer.swept(deleted);
      const isAny = Object.values(deleted).some((count) => count > 0);
      if (isAny) logger.info(deleted, "swept what is past its retention");
    },
    filesSwept(swept) {
      observer.filesSwept(swept);
      if (Object.values(swept).some((count) => count > 0)) logger.info(swept, "swept files of no message");
    },
    badRow(row) {
      observer.badRow(row);
      const { table, id, error } = row;
      logger.error({ table, id, err: error }, "row set aside: it can't be read");
    },
    billed(event) {
      observer.billed(event);
      switch (event.kind) {
        case "failed":
          logger.error({ err: event.error }, "billing failed: a price could not be written or read");
          break;
        case "unmetered":
          logger.error("a model was called past the meter");
          break;
        case "escaped":
          logger.error({ origin: event.origin }, "a model call went to another host, unmetered");
          break;
        case "served_unlisted":
          logger.warn(
            { model: event.model },
            "a fallback answered with a model that is not on the account's list",
          );
          break;
        case "near_budget":
          logger.warn({ account: event.account }, "an account is near its budget");
          break;
        case "bad_line":
          logger.warn("a line of LiteLLM's log can't be read");
          break;
        case "billing_failed":
          logger.error(
            { runId: event.runId, account: event.account, calls: event.calls },
            "billing failed: LiteLLM's log has no row of a run's calls",
          );
          break;
        case "reconciled":
          if (Object.values(event.report).some((count) => count > 0)) logger.info(event.report, "reconciled");
      }
    },
    busChanged(state) {
      observer.busChanged(state);
      if (state.kind === "connected") logger.info("Redis connects this instance with the others");
      else logger.warn({ err: state.reason }, "Redis is away: entries are read from PostgreSQL");
    },
    noticed(message) {
      observer.noticed(message);
      logger.warn(message);
    },
    failed(message, error, run) {
      observer.failed(message, error, run);
      logger.error({ ...(run && named(run)), err: error }, message);
    },
  };
}

function named({ runId, graphId, account, traceId, attempt }: RunLabels) {
  return { runId, graphId, account, traceId, attempt };
}
