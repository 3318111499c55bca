import { isObject, type JsonObject } from "./legacy-value.js";

/**
 * An input whose `forwardedProps.command.resume` became AG-UI's `resume`, for every interrupt that it answers; any other input as
 * it is, the very same object. `pending` are the interrupts that the thread is known to wait for.
 */
export function toResume(input: JsonObject, pending: readonly string[]): JsonObject {
  const { forwardedProps, resume: given } = input;
  if (!isObject(forwardedProps) || !isObject(forwardedProps.command)) return input;
  const { command, ...otherProps } = forwardedProps;
  if (!isObject(command) || !("resume" in command) || (Array.isArray(given) && given.length > 0))
    return input;
  const { resume, ...otherCommand } = command;
  const payload = parsed(resume);
  const ids = answeredBy(payload, command.interruptEvent, pending);
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

/** Whether an input answers by `command.resume` and has no `resume` of AG-UI's. */
export function answersUnnamed({ forwardedProps, resume: given }: JsonObject): boolean {
  return (
    isObject(forwardedProps) &&
    isObject(forwardedProps.command) &&
    "resume" in forwardedProps.command &&
    !(Array.isArray(given) && given.length > 0)
  );
}

/** By the answer itself, by the question that clients send along with it, or by what the thread waits for. */
function answeredBy(payload: unknown, question: unknown, pending: readonly string[]): readonly string[] {
  const asked = parsed(question);
  const named = idIn(payload) ?? idIn(asked);
  return named === undefined ? pending : [named];
}

function idIn(value: unknown): string | undefined {
  return isObject(value) && typeof value.interruptId === "string" ? value.interruptId : undefined;
}

/** The id says which question; the answer is the rest. */
function withoutId(payload: unknown): unknown {
  if (idIn(payload) === undefined || !isObject(payload)) return payload;
  const { interruptId: _, ...answer } = payload;
  return answer;
}

/** Clients send objects as JSON text. A text that is no object or list is an answer in words, even `42`. */
function parsed(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    const read: unknown = JSON.parse(value);
    return typeof read === "object" && read !== null ? read : value;
  } catch {
    return value;
  }
}
