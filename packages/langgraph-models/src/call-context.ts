import { AsyncLocalStorage, AsyncResource } from "node:async_hooks";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import type { RunnableConfig } from "@langchain/core/runnables";
import { AsyncLocalStorageProviderSingleton } from "@langchain/core/singletons";
import { AsyncCaller } from "@langchain/core/utils/async_caller";

const remembered = new AsyncLocalStorage<RunnableConfig>();
let isRemembering = false;

/**
 * Stores the config of the running node in a second async storage. `stream()` of a model empties LangChain's own storage for its
 * calls: the request is then sent without any config, although a run is in progress.
 */
export function rememberConfigs(): void {
  if (isRemembering) return;
  isRemembering = true;
  AsyncLocalStorageProviderSingleton.initializeGlobalInstance(new AsyncLocalStorage());
  // One for all copies of LangChain in the process. Graphs that are loaded later use it too.
  const storage = AsyncLocalStorageProviderSingleton.getInstance();
  const run = storage.run.bind(storage);
  storage.run = <Result>(store: unknown, work: () => Result): Result =>
    run(store, () => {
      const config = AsyncLocalStorageProviderSingleton.getRunnableConfig();
      return config === undefined ? work() : remembered.run(config, work);
    });
}

/** The config of the run that the caller is part of; `undefined` outside of any. */
export function currentConfig(): RunnableConfig | undefined {
  return remembered.getStore();
}

const BOUND = Symbol.for("throughline.callContexts");
const MODULE = "@langchain/core/utils/async_caller";

/**
 * Binds a model call that waits in LangChain's queue (`maxConcurrency`) to the async context it was made in. The queue starts it
 * in the context of the call that ended before it: it would carry the key of another run, which may be another tenant's.
 */
export function bindCallContexts(caller: typeof AsyncCaller = AsyncCaller): void {
  if (Object.hasOwn(caller.prototype, BOUND)) return;
  Object.defineProperty(caller.prototype, BOUND, { value: true });
  const { call, callWithOptions } = caller.prototype;
  caller.prototype.call = function (callable, ...args) {
    return call.call(this, AsyncResource.bind(callable), ...args);
  };
  caller.prototype.callWithOptions = function (options, callable, ...args) {
    return callWithOptions.call(this, options, AsyncResource.bind(callable), ...args);
  };
}

/** Does the same for a project's own copy of LangChain, in both module systems. `file`: any file of the project. */
export async function bindCallContextsOf(file: string): Promise<void> {
  const found = resolveFrom(file);
  if (found === undefined) return;
  for (const path of new Set([found, found.replace(/\.cjs$/, ".js")])) {
    const loaded: { AsyncCaller?: unknown } = await import(pathToFileURL(path).href).catch(() => ({}));
    if (isCaller(loaded.AsyncCaller)) bindCallContexts(loaded.AsyncCaller);
  }
}

function resolveFrom(file: string): string | undefined {
  try {
    return createRequire(file).resolve(MODULE);
  } catch {
    // A project without LangChain of its own uses ours, or none.
    return undefined;
  }
}

function isCaller(value: unknown): value is typeof AsyncCaller {
  return typeof value === "function" && typeof value.prototype?.call === "function";
}
