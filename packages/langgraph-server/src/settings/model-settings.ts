import type { UnresolvedPolicy } from "@throughline/billing";
import { z } from "zod";
import { setting } from "./setting.js";
import { duration, oneOf, text, urlOf, wholeNumber } from "./value-schemas.js";

/** Settings of models and of the keys that pay for them. */
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

const POLICIES: readonly UnresolvedPolicy[] = ["list", "write_off", "estimate"];

const names = text.transform((list): readonly string[] =>
  list
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== ""),
);

/** A policy for all accounts and others for named ones: `list,acme=estimate`. */
const policies = names.transform((parts, context): ReadonlyMap<string, UnresolvedPolicy> => {
  const read = parts.map((part) => {
    const at = part.lastIndexOf("=");
    return {
      account: at < 0 ? "" : part.slice(0, at),
      policy: POLICIES.find((name) => name === part.slice(at + 1)),
    };
  });
  const known = new Map(read.flatMap(({ account, policy }) => (policy ? [[account, policy] as const] : [])));
  if (known.size === read.length) return known;
  context.addIssue({
    code: "custom",
    message: `takes one of ${POLICIES.join(", ")}, and ACCOUNT=POLICY for others, with commas between`,
  });
  return z.NEVER;
});

/** Settings of the keys for an account's models, and of pricing for calls whose response has no price. */
export const BILLING_SETTINGS = {
  systemAccounts: setting({
    env: "THROUGHLINE_SYSTEM_ACCOUNTS",
    flag: "system-accounts",
    group: "models",
    placeholder: "NAMES",
    doc: "Accounts whose model calls are made with LITELLM_API_KEY, with commas between.",
    schema: names,
    unset: "none; with dev sign-in all accounts",
  }),
  keySecrets: setting({
    env: "THROUGHLINE_KEY_SECRETS",
    group: "models",
    placeholder: "SECRETS",
    doc: "What the accounts' LiteLLM keys are sealed with in the database: ID:SECRET pairs with commas between, 32 bytes in base64 each; the first seals.",
    schema: text,
    unset: "no keys are kept in the database",
    secret: "whole",
  }),
  makeKeys: setting({
    env: "THROUGHLINE_MAKE_KEYS",
    flag: "make-keys",
    group: "models",
    placeholder: "YES|NO",
    doc: "Whether an account that has no key gets one from LiteLLM when it first calls a model; needs THROUGHLINE_KEY_SECRETS.",
    schema: oneOf("yes", "no"),
    fallback: "no",
  }),
  spendLog: setting({
    env: "THROUGHLINE_SPEND_LOG",
    flag: "spend-log",
    group: "models",
    placeholder: "FILE",
    doc: "The file that throughline_logger.py writes beside LiteLLM.",
    schema: text,
    unset: "LiteLLM is asked for its spend logs, which needs its database",
  }),
  reconcileSeconds: setting({
    env: "THROUGHLINE_RECONCILE_SECONDS",
    flag: "reconcile-seconds",
    group: "models",
    placeholder: "SECONDS",
    doc: "How often calls that told no price are looked up in LiteLLM's log; 0 never does, for a service where `throughline usage reconcile` is run instead.",
    schema: wholeNumber.refine((seconds) => seconds <= 86_400, "takes at most 86400 seconds"),
    fallback: 60,
  }),
  unresolvedCalls: setting({
    env: "THROUGHLINE_UNRESOLVED_CALLS",
    flag: "unresolved-calls",
    group: "models",
    placeholder: "POLICIES",
    doc: "What becomes of calls that have no price after an hour: list, write_off or estimate, and ACCOUNT=POLICY for single accounts.",
    schema: policies,
    unset: "list",
  }),
} as const;
