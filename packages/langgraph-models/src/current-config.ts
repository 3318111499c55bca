import { AsyncLocalStorage } from "node:async_hooks";
import type { RunnableConfig } from "@langchain/core/runnables";
import { AsyncLocalStorageProviderSingleton } from "@langchain/core/singletons";

const remembered = new AsyncLocalStorage<RunnableConfig>();
let isRemembering = false;

/**
 * Remembers the config of the node at work beside LangChain's own storage, which `stream()` of a model empties for what it
 * calls: the request is then made without any config, though in the midst of a run.
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
