import { setting } from "./setting.js";
import { duration, text, urlOf } from "./value-schemas.js";

/** Which models answer, and who pays them. */
export const MODEL_SETTINGS = {
  defaultModel: setting({
    env: "THROUGHLINE_DEFAULT_MODEL",
    flag: "default-model",
    group: "models",
    placeholder: "NAME",
    doc: "The model of runs that name none, for graphs whose context schema declares `model`.",
    schema: text,
    unset: "the first that LiteLLM lists for the account; without LiteLLM the graph's own",
  }),
  litellmBaseUrl: setting({
    env: "LITELLM_BASE_URL",
    flag: "litellm-base-url",
    group: "models",
    placeholder: "URL",
    doc: "A LiteLLM proxy that serves the models.",
    schema: urlOf("http:", "https:"),
    unset: "graphs call their own models; those that ask the service for one get the offline model",
    isForGraphs: true,
  }),
  litellmApiKey: setting({
    env: "LITELLM_API_KEY",
    group: "models",
    placeholder: "TOKEN",
    doc: "The service's own LiteLLM token: for prices, keys and spend logs, and for the calls of system accounts.",
    schema: text,
    unset: "must be set once a proxy is",
    secret: "whole",
    isForGraphs: true,
  }),
  litellmVirtualKeys: setting({
    env: "LITELLM_VIRTUAL_KEYS",
    group: "models",
    placeholder: "JSON",
    doc: "A JSON object of key id to LiteLLM token, or to an object of token and account where a key is for one account only.",
    schema: text,
    unset: "accounts have their keys from the database, or none",
    secret: "whole",
    isForGraphs: true,
  }),
  offlinePaceMs: setting({
    env: "THROUGHLINE_OFFLINE_PACE_MS",
    flag: "offline-pace-ms",
    group: "models",
    placeholder: "MS",
    doc: "Milliseconds between tokens of the offline model.",
    schema: duration,
    fallback: 25,
    isForGraphs: true,
  }),
} as const;
