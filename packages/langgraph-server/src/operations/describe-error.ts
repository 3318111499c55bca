import { type Json, ThroughlineError } from "@throughline/ai-core";
import { z } from "zod";
import { scrubText } from "./scrub-text.js";

/** An error as a log line shows it. */
export interface DescribedError {
  readonly type: string;
  readonly code?: string | number;
  readonly message?: string;
  readonly details?: Readonly<Record<string, Json>>;
  readonly stack?: string;
  readonly cause?: DescribedError;
  /** Of an `AggregateError`: the first of its errors. */
  readonly errors?: readonly DescribedError[];
}

export interface DescribeOptions {
  /** Whether foreign errors are shown with their stack. Errors of ours always are. */
  readonly withStack: boolean;
}

const MAX_DEPTH = 6;
const MAX_ERRORS = 4;

/**
 * Errors of ours are shown whole: their messages are written for people. Of a foreign error its name, code and scrubbed
 * message are shown and nothing else, because other fields hold data (`detail` and `where` of PostgreSQL, a response of a
 * model). Never throws, whatever was thrown.
 */
export function describeError(error: unknown, options: DescribeOptions): DescribedError {
  return describe(error, options, MAX_DEPTH);
}

function describe(error: unknown, options: DescribeOptions, depth: number): DescribedError {
  try {
    if (error instanceof ThroughlineError) return describeOurs(error, options, depth);
    if (error instanceof Error) return describeForeign(error, options, depth);
    return typeof error === "string"
      ? { type: "string", message: scrubText(error) }
      : { type: error === null ? "null" : typeof error };
  } catch {
    // A getter of the error threw.
    return { type: "unreadable" };
  }
}

function describeOurs(error: ThroughlineError, options: DescribeOptions, depth: number): DescribedError {
  const { name: type, code, message, details, stack } = error;
  return {
    type,
    code,
    message,
    ...(Object.keys(details).length > 0 && { details }),
    ...(stack !== undefined && { stack }),
    ...nested(error, options, depth),
  };
}

function describeForeign(error: Error, options: DescribeOptions, depth: number): DescribedError {
  const type = plainWord(error.name) ?? "Error";
  const code = codeOf(error);
  const message = messageOf(error);
  return {
    type,
    ...(code !== undefined && { code }),
    ...(message !== "" && { message }),
    ...(options.withStack && { stack: [`${type}: ${message}`, ...framesOf(error)].join("\n") }),
    ...nested(error, options, depth),
  };
}

function nested(
  error: Error,
  options: DescribeOptions,
  depth: number,
): Pick<DescribedError, "cause" | "errors"> {
  if (depth === 0) return {};
  const errors = error instanceof AggregateError ? error.errors.slice(0, MAX_ERRORS) : [];
  return {
    ...(error.cause !== undefined && { cause: describe(error.cause, options, depth - 1) }),
    ...(errors.length > 0 && { errors: errors.map((one) => describe(one, options, depth - 1)) }),
  };
}

/** A failed check of a shape says so in JSON over many lines; its issues name fields and expectations, never values. */
function messageOf(error: Error): string {
  if (!(error instanceof z.ZodError)) return scrubText(String(error.message));
  const issues = error.issues.slice(0, MAX_ERRORS);
  return scrubText(
    issues
      .map(({ path, message }) => [path.map(String).join("."), message].filter(Boolean).join(": "))
      .join("; "),
  );
}

function codeOf(error: Error): string | number | undefined {
  if (!("code" in error)) return undefined;
  return typeof error.code === "number" ? error.code : plainWord(error.code);
}

/** Foreign names and codes are words, or they are not shown. */
function plainWord(value: unknown): string | undefined {
  if (typeof value !== "string" || !/^[\w.-]{1,64}$/.test(value)) return undefined;
  return scrubText(value) === value ? value : undefined;
}

const FRAME = /^\s+at .*(?::\d+:\d+\)?|<anonymous>\)?|\(native\))$/;

/** A stack begins with the message, which may hold lines that look like frames. */
function framesOf({ stack = "", message }: Error): readonly string[] {
  const at = stack.indexOf(message);
  const frames = at < 0 ? stack : stack.slice(at + message.length);
  return frames.split("\n").filter((line) => FRAME.test(line));
}
