import { isErrorCode, ThroughlineError } from "@throughline/ai-core";
import { read, readString } from "@throughline/coerce";

/** Errors LangGraph throws over what it was given, before any node runs. */
const INPUT_ERRORS = new Set([
  "EmptyInputError",
  "InvalidUpdateError",
  "StateGraphInputError",
  "ZodError",
  "$ZodError",
]);

/** LangGraph's limit is 25 steps unless the graph, its langgraph.json or the run sets another. */
const RECURSION_LIMIT_REACHED =
  "The graph took more steps than its limit allows. Raise `config.recursion_limit`, for the run or for the graph in langgraph.json.";

/**
 * A failed run as one of our errors. Its message is always ours, because the original's may carry a key, a prompt or
 * a path; the original is attached as `cause`, for logs on this side.
 */
export function toRunError(error: unknown, nodesRan: boolean): ThroughlineError {
  if (error instanceof ThroughlineError) return error;
  const name = readString(error, "name") ?? "";
  const code = read(error, "code");
  // Thrown by a project's own copy of ai-core: its sentence is as good as ours.
  if (name === "ThroughlineError" && isErrorCode(code)) {
    return new ThroughlineError(code, readString(error, "message") ?? "", { cause: error });
  }
  if (name === "GraphRecursionError") {
    return new ThroughlineError("run_failed", RECURSION_LIMIT_REACHED, { cause: error });
  }
  if (
    !nodesRan &&
    (INPUT_ERRORS.has(name) || readString(error, "lc_error_code") === "MESSAGE_COERCION_FAILURE")
  ) {
    return new ThroughlineError("invalid_input", "The graph does not accept this input.", { cause: error });
  }
  return new ThroughlineError("run_failed", "The graph failed while it ran.", { cause: error });
}

/**
 * The reason why a graph refused an update of its state. LangGraph's own messages name nodes and channels and the required
 * change, so they are shown; errors from a graph's own code are not.
 */
export function toUpdateError(error: unknown): ThroughlineError {
  const isLangGraphs = INPUT_ERRORS.has(readString(error, "name") ?? "");
  return refusedUpdate(isLangGraphs ? readString(error, "message") : undefined, error);
}

export function refusedUpdate(why: string | undefined, cause: unknown): ThroughlineError {
  const refused = "The graph did not accept this update";
  return new ThroughlineError("invalid_input", why === undefined ? `${refused}.` : `${refused}: ${why}`, {
    details: { field: "values" },
    cause,
  });
}

/** Whether an error came from LangGraph's own work between the nodes, such as applying what they wrote, and from no node. */
export function isOfLoop(error: unknown): boolean {
  return (
    !(error instanceof ThroughlineError) &&
    read(error, "pregelTaskId") === undefined &&
    readString(error, "name") !== "GraphRecursionError"
  );
}

/** A run stopped by its signal: `cancelled`, unless the abort has another reason. */
export function toStopError(reason: unknown): ThroughlineError {
  if (reason instanceof ThroughlineError) return reason;
  return new ThroughlineError("cancelled", "The run was stopped.", { cause: reason });
}

/** A checkpoint that could not be written, where that is no outage. */
export function toWriteError(error: unknown): ThroughlineError {
  if (error instanceof ThroughlineError) return error;
  return new ThroughlineError("internal", "The checkpoint could not be written.", { cause: error });
}
