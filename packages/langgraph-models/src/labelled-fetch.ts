import { randomUUID } from "node:crypto";
import type { RunnableConfig } from "@langchain/core/runnables";
import {
  type CallLabels,
  type ExecutorType,
  isMetered,
  type KeyResolver,
  labelRequest,
  markMetered,
  outsideOfRun,
  type PartialCallLabels,
  providerVariables,
  requestTarget,
  toRefusal,
} from "@throughline/ai-core";
import { bindCallContexts, currentConfig, rememberConfigs } from "./call-context.js";
import { envKeyResolver, UNNAMED_KEY_ID } from "./keys.js";
import { readModelConfig } from "./model-config.js";

export interface LabelledFetchOptions {
  /** LiteLLM's address. POSTs to its origin are labelled. */
  readonly baseUrl: string;
  readonly keys: KeyResolver;
  /** The run that a request is made in; `undefined` outside of any. */
  readonly currentLabels: () => RunLabels | undefined;
  readonly send: typeof fetch;
}

/**
 * A `fetch` for processes without a ledger: it gives every call to LiteLLM the run's key and labels under an id of its own,
 * by which reconciliation finds and charges it. A call outside of a run, or without a key, is refused by a response that
 * client libraries don't treat as a broken connection. Other hosts are left alone.
 */
export function createLabelledFetch(options: LabelledFetchOptions): typeof fetch {
  const { keys, currentLabels, send } = options;
  const { origin } = new URL(options.baseUrl);

  async function label(own: Headers): Promise<Headers> {
    const run = currentLabels();
    if (!run) throw outsideOfRun();
    const token = await keys.resolveKey(run.virtualKeyId ?? UNNAMED_KEY_ID, run.accountId);
    return labelRequest(own, { token, labels: { ...run, usageUnitId: randomUUID() } });
  }

  return markMetered(async (input, init) => {
    const { method, url } = requestTarget(input, init);
    if (method !== "POST" || url.origin !== origin) return send(input, init);
    const own = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
    let headers: Headers;
    try {
      headers = await label(own);
    } catch (error) {
      return toRefusal(error).response;
    }
    return send(input, { ...init, headers });
  });
}

/**
 * Makes `fetch` the labelled one and points the providers' client libraries at LiteLLM, so that a graph's plain model goes
 * through it. Does nothing without `LITELLM_BASE_URL`, and where `fetch` labels already: a service meters its own. Call
 * it before models are made: a client retains the `fetch` and the address it was made with.
 */
export function installLabelledFetch(env: Record<string, string | undefined> = process.env): void {
  const baseUrl = env.LITELLM_BASE_URL;
  if (!baseUrl || isMetered(globalThis.fetch)) return;
  const { addresses, keys } = providerVariables(baseUrl);
  Object.assign(env, addresses);
  for (const [name, placeholder] of Object.entries(keys)) env[name] ||= placeholder;
  rememberConfigs();
  bindCallContexts();
  globalThis.fetch = createLabelledFetch({
    baseUrl,
    keys: envKeyResolver(env),
    currentLabels,
    send: globalThis.fetch,
  });
}

function currentLabels(): RunLabels | undefined {
  const config = currentConfig();
  if (config === undefined) return undefined;
  const labels = readRunLabels(config, "langgraph_server");
  // A chain of LangChain's has a config too, and is no run.
  return labels.runId === undefined ? undefined : labels;
}

/** The labels of a run: all labels of a call but the call's own id. */
type RunLabels = Omit<PartialCallLabels, "usageUnitId"> & Pick<CallLabels, "executorType">;

/** Reads the labels of a run's model calls from its config. A run that others started has the server's id and no account. */
export function readRunLabels(config: RunnableConfig | undefined, executorType: ExecutorType): RunLabels {
  const run = readModelConfig(config);
  return {
    accountId: run.billingAccountId,
    virtualKeyId: run.virtualKeyId,
    runId: run.runId ?? run.run_id,
    attempt: run.attempt,
    threadId: run.thread_id,
    requestId: run.ingressRequestId,
    traceId: run.traceId,
    executorType: run.executorType ?? executorType,
  };
}
