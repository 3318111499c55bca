import { z } from "zod";
import { type Json, jsonObjectSchema } from "../json/json.js";
import { ERROR_CODES, type ErrorCode, httpStatusOf, isErrorCode } from "./error-codes.js";

export const errorCodeSchema = z
  .custom<ErrorCode>(isErrorCode, "unknown error code")
  .meta({ type: "string", enum: Object.keys(ERROR_CODES) });

export interface ThroughlineErrorOptions {
  /** Facts a client can act on (`runId`, `retryAfterMs`, `field`). They reach the browser: never a secret. */
  readonly details?: Readonly<Record<string, Json>>;
  readonly cause?: unknown;
}

/** The only error thrown on purpose. Its message reaches people: it names the field and the remedy. */
export class ThroughlineError extends Error {
  override readonly name = "ThroughlineError";
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, Json>>;

  constructor(code: ErrorCode, message: string, options: ThroughlineErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? {};
  }

  get status(): number {
    return httpStatusOf(this.code);
  }
}

export const wireErrorSchema = z.object({
  code: errorCodeSchema,
  message: z.string(),
  hint: z.string(),
  details: jsonObjectSchema.optional(),
});
export type WireError = z.infer<typeof wireErrorSchema>;

/**
 * Encodes an error for the wire; no other code does. Any error that is not ours is `internal` with a fixed sentence, because
 * an external message may carry a key, a prompt or a path.
 */
export function toWireError(error: unknown): WireError {
  if (!(error instanceof ThroughlineError)) {
    return { code: "internal", message: "Something failed on our side.", hint: ERROR_CODES.internal.hint };
  }
  const { code, message, details } = error;
  const wire: WireError = { code, message, hint: ERROR_CODES[code].hint };
  return Object.keys(details).length > 0 ? { ...wire, details: { ...details } } : wire;
}

/** Turns a zod failure into one sentence that names the first offending field. */
export function invalidInput(error: z.ZodError, what = "input"): ThroughlineError {
  const issue = error.issues[0];
  const field = issue && issue.path.length > 0 ? issue.path.map(String).join(".") : what;
  return new ThroughlineError("invalid_input", `${field}: ${issue?.message ?? "is not valid"}`, {
    details: { field },
    cause: error,
  });
}

/**
 * The classes of failures. `graph`: LangGraph's own work between the nodes; `node`: a node's code; `tool`, `model`: its calls;
 * `upstream`: a server that it or we call; `store`: our own stores; `cancelled`: it was stopped.
 */
export const ERROR_CLASSES = ["graph", "node", "tool", "model", "upstream", "store", "cancelled"] as const;
export const errorClassSchema = z.enum(ERROR_CLASSES);
export type ErrorClass = z.infer<typeof errorClassSchema>;
