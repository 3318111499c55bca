import { isObject, type JsonObject } from "./legacy-value.js";

/**
 * Converts an input's `forwardedProps.command.resume` to AG-UI's `resume`, for every interrupt that it responds to; returns
 * any other input itself, the same object. `pending` are the known open interrupts of the thread.
 */
export function toResume(input: JsonObject, pending: readonly string[]): JsonObject {
  const { forwardedProps, resume: given } = input;
  if (!isObject(forwardedProps) || !isObject(forwardedProps.command)) return input;
  const { command, ...otherProps } = forwardedProps;
  if (!isObject(command) || !("resume" in command) || (Array.isArray(given) && given.length > 0))
    return input;
  const { resume, ...otherCommand } = command;
  const payload = parsed(resume);
  const ids = resolvedIds(payload, command.interruptEvent, pending);
  if (ids.length === 0) return input;
  return {
    ...input,
    forwardedProps: {
      ...otherProps,
      ...(Object.keys(otherCommand).length > 0 && { command: otherCommand }),
    },
    resume: ids.map((interruptId) => ({ interruptId, status: "resolved", payload: withoutId(payload) })),
  };
}

/** Whether an input has a `command.resume` and no `resume` of AG-UI's. */
export function isUnnamedResume({ forwardedProps, resume: given }: JsonObject): boolean {
  return (
    isObject(forwardedProps) &&
    isObject(forwardedProps.command) &&
    "resume" in forwardedProps.command &&
    !(Array.isArray(given) && given.length > 0)
  );
}

/** The ids of the interrupts: in the response itself, in the interrupt that clients send with it, or all open ones. */
function resolvedIds(payload: unknown, question: unknown, pending: readonly string[]): readonly string[] {
  const interrupt = parsed(question);
  const named = idIn(payload) ?? idIn(interrupt);
  return named === undefined ? pending : [named];
}

function idIn(value: unknown): string | undefined {
  return isObject(value) && typeof value.interruptId === "string" ? value.interruptId : undefined;
}

/** Removes the interrupt's id from a response. */
function withoutId(payload: unknown): unknown {
  if (idIn(payload) === undefined || !isObject(payload)) return payload;
  const { interruptId: _, ...answer } = payload;
  return answer;
}

/** Parses objects, which clients send as JSON text. A text that is no object or list is a text response, even `42`. */
function parsed(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    const read: unknown = JSON.parse(value);
    return typeof read === "object" && read !== null ? read : value;
  } catch {
    return value;
  }
}
