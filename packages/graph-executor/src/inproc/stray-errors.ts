import { AsyncLocalStorage } from "node:async_hooks";
import { ThroughlineError } from "@throughline/ai-core";

/** A run as its graph's code finds it, however far that code has strayed. */
interface RunScope {
  fail(error: ThroughlineError): void;
}

const scopes = new AsyncLocalStorage<RunScope>();

/** Gives a function that calls another one as part of a run: what that one leaves unhandled belongs to the run. */
export function createRunScope(
  fail: (error: ThroughlineError) => void,
): <Result>(work: () => Result) => Result {
  const scope: RunScope = { fail };
  return (work) => scopes.run(scope, work);
}

/**
 * Fails the run that an unhandled error came from, and says whether there was one. To be called by the process's handlers
 * of `unhandledRejection` and `uncaughtException`, directly: Node calls these in the async context of the error. Covered
 * are promises that a run made and left rejected, and errors thrown by a run's timers, immediates, ticks, event emitters
 * and sockets. Not covered, before Node 24, are those of `queueMicrotask`. A promise that one run makes and another rejects
 * counts as the first one's before Node 24, and as the second one's from there on.
 */
export function failStrayRun(error: unknown): boolean {
  const scope = scopes.getStore();
  if (!scope) return false;
  scope.fail(new ThroughlineError("run_failed", "The graph left an error unhandled.", { cause: error }));
  return true;
}
