import { EventType, type RunErrorEvent } from "@ag-ui/client";
import type { Run, ThreadState } from "@langchain/langgraph-sdk";
import { ConnectFailure, type ConnectFailureCode, objectOf, propertyOf } from "./connect-input.js";

/**
 * How a run failed, from the thread's state: a failed task keeps its error there, which is all that is left of the failure
 * once the stream is over. Undefined if nothing failed.
 */
export function failureIn(state: ThreadState, status?: Run["status"]): RunErrorEvent | undefined {
  const [error] = state.tasks.flatMap((task) => task.error ?? []);
  if (error !== undefined) return runError("RUN_FAILED", messageIn(error));
  if (status === "error")
    return runError("RUN_FAILED", "The run failed, and the thread's state does not say why.");
  if (status === "timeout")
    return runError("RUN_FAILED", "The run took too long and was ended by the server.");
  return undefined;
}

/** What a client is told when connecting itself fails. */
export function connectError(error: unknown): RunErrorEvent {
  if (error instanceof ConnectFailure) return runError(error.code, error.message);
  const message = error instanceof Error ? error.message : String(error);
  // Failed fetches are TypeErrors that name what the socket said.
  if (error instanceof TypeError && error.cause !== undefined)
    return runError("UPSTREAM_UNAVAILABLE", `The LangGraph server cannot be reached (${message}).`);
  return runError("CONNECT_FAILED", message);
}

function runError(code: ConnectFailureCode, message: string): RunErrorEvent {
  return { type: EventType.RUN_ERROR, message, code };
}

/** Servers store `{"message","name"}` as text; older ones the text alone. */
function messageIn(error: string): string {
  try {
    const message = propertyOf(objectOf(JSON.parse(error)), "message");
    return typeof message === "string" ? message : error;
  } catch {
    return error;
  }
}
