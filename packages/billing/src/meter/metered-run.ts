import { AsyncLocalStorage } from "node:async_hooks";
import type { ExecutorType, RunContext } from "@throughline/ai-core";

/** The run that a model call is made for and charged to. */
export interface MeteredRun extends Omit<RunContext, "profile"> {
  readonly executorType: ExecutorType;
}

const storage = new AsyncLocalStorage<MeteredRun>();

/** Model calls made by `work`, and by everything it starts, belong to the run. */
export function withMeteredRun<Result>(run: MeteredRun, work: () => Result): Result {
  return storage.run(run, work);
}

export function currentMeteredRun(): MeteredRun | undefined {
  return storage.getStore();
}
