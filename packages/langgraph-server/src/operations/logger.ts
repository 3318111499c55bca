import { type DestinationStream, type LevelWithSilent, type Logger, pino } from "pino";

export type { Logger } from "pino";

/** What may never stand in a log: credentials, and what people and models say to each other. */
const SECRET = [
  "authorization",
  "cookie",
  "token",
  "secret",
  "password",
  "apiKey",
  "databaseUrl",
  "redisUrl",
];
const SAID = ["messages", "content", "prompt", "state", "input", "text"];

export interface LoggerOptions {
  readonly level: LevelWithSilent;
  readonly destination?: DestinationStream;
}

export function createLogger({ level, destination }: LoggerOptions): Logger {
  const names = [...SECRET, ...SAID];
  const options = {
    level,
    base: { service: "throughline" },
    redact: { paths: names.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: "[left out]" },
    // Of a foreign error only its kind: its message may hold a key, a prompt or a path.
    serializers: { err: (error: unknown) => ({ type: error instanceof Error ? error.name : typeof error }) },
  };
  return destination ? pino(options, destination) : pino(options);
}
