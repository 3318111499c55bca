import { AsyncResource } from "node:async_hooks";
import { AsyncCaller } from "@langchain/core/utils/async_caller";

let isKept = false;

/**
 * Lets a model call that waited in LangChain's queue (`maxConcurrency`) go on in the async context it was made in. The queue
 * starts it in that of the call that ended before it: it would carry the key of another run, which may be another tenant's.
 */
export function keepCallContexts(): void {
  if (isKept) return;
  isKept = true;
  const { call, callWithOptions } = AsyncCaller.prototype;
  AsyncCaller.prototype.call = function (callable, ...args) {
    return call.call(this, AsyncResource.bind(callable), ...args);
  };
  AsyncCaller.prototype.callWithOptions = function (options, callable, ...args) {
    return callWithOptions.call(this, options, AsyncResource.bind(callable), ...args);
  };
}
