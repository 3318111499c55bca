import {
  type DestinationStream,
  type LevelWithSilent,
  type Logger,
  type LoggerOptions as PinoOptions,
  pino,
} from "pino";
import { describeError } from "./describe-error.js";

export type { Logger } from "pino";

/** Field names that never stand in a log: credentials, and what people and models say to each other. */
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
const SAID = ["messages", "content", "prompt", "state", "input", "text"];

export interface LoggerOptions {
  readonly level: LevelWithSilent;
  readonly destination?: DestinationStream;
}

export function createLogger({ level, destination }: LoggerOptions): Logger {
  const names = [...SECRET, ...SAID];
  const withStack = level === "debug" || level === "trace";
  const options: PinoOptions = {
    level,
    base: { service: "throughline" },
    redact: { paths: names.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: "[left out]" },
    serializers: { err: (error: unknown) => describeError(error, { withStack }) },
    hooks: {
      // Pino takes the raw message of an error that is logged without one.
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
