import { isLabelling, providerVariables } from "@throughline/ai-core";
import { createLabelledFetch } from "./create-labelled-fetch.js";
import { currentConfig, rememberConfigs } from "./current-config.js";
import { keepCallContexts } from "./keep-call-contexts.js";
import { envKeyResolver } from "./key-resolver.js";
import { type RunLabels, readRunLabels } from "./run-labels.js";

/**
 * Makes `fetch` the labelled one and points the providers' client libraries at LiteLLM, so that a graph's plain model goes
 * through it. Does nothing without `LITELLM_BASE_URL`, and where `fetch` labels already: a service meters its own. To be
 * called before models are made: a client keeps the `fetch` and the address it was made with.
 */
export function installLabelledFetch(env: Record<string, string | undefined> = process.env): void {
  const baseUrl = env.LITELLM_BASE_URL;
  if (!baseUrl || isLabelling(globalThis.fetch)) return;
  const { addresses, keys } = providerVariables(baseUrl);
  Object.assign(env, addresses);
  for (const [name, placeholder] of Object.entries(keys)) env[name] ||= placeholder;
  rememberConfigs();
  keepCallContexts();
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
