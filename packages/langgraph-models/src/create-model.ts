import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { RunnableConfig } from "@langchain/core/runnables";
import { isMetered, type KeyResolver, ThroughlineError } from "@throughline/ai-core";
import { z } from "zod";
import { createLabelledFetch, readRunLabels } from "./labelled-fetch.js";
import { type ModelConfig, readModelConfig } from "./model-config.js";
import { OfflineChatModel } from "./offline-model.js";
import type { OfflineScript } from "./offline-turn.js";

export interface CreateModelOptions {
  readonly keys: KeyResolver;
  /** The offline model's script; absent: a default script. */
  readonly offline?: OfflineScript;
  readonly tags?: readonly string[];
}

const HUMAN_PACE_MS = 25;
/** The client library insists on a key. The tenant's is put into each request as it is sent. */
const NO_KEY = "set-per-request";

/**
 * Makes the model of one call from the run's own config. R32: it never holds a token; nothing is cached between calls, because
 * the next call may belong to another account.
 */
export async function createModel(
  config: RunnableConfig | undefined,
  options: CreateModelOptions,
): Promise<BaseChatModel> {
  const modelConfig = readModelConfig(config);
  const baseURL = process.env.LITELLM_BASE_URL;
  if (!baseURL) return offlineModel(config, modelConfig, options);
  const { ChatOpenAI } = await loadOpenAi();
  return new ChatOpenAI({
    model: modelConfig.model,
    apiKey: NO_KEY,
    streamUsage: true,
    // LiteLLM retries towards its providers; more here would only multiply the wait and the spend.
    maxRetries: 1,
    configuration: { baseURL, fetch: fetchOf(config, baseURL, options.keys) },
    ...(options.tags ? { tags: [...options.tags] } : {}),
  });
}

type OpenAi = typeof import("@langchain/openai");

/** Loads the optional peer. A service whose graphs bring models of their own needs none of it. */
export async function loadOpenAi(
  load: () => Promise<OpenAi> = () => import("@langchain/openai"),
): Promise<OpenAi> {
  try {
    return await load();
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND")) throw error;
    throw new ThroughlineError(
      "invalid_input",
      "LITELLM_BASE_URL is set, and the client of its models is not installed. Run: npm install @langchain/openai",
      { details: { field: "LITELLM_BASE_URL" }, cause: error },
    );
  }
}

/**
 * Labels requests where the process itself does not: a service has installed its meter as `fetch`, a LangGraph server the
 * labelled one. The check runs at each request.
 */
function fetchOf(config: RunnableConfig | undefined, baseUrl: string, keys: KeyResolver): typeof fetch {
  const labelled = createLabelledFetch({
    baseUrl,
    keys,
    currentLabels: () => readRunLabels(config, "inproc"),
    send: (input, init) => globalThis.fetch(input, init),
  });
  return (input, init) => (isMetered(globalThis.fetch) ? globalThis.fetch : labelled)(input, init);
}

function offlineModel(
  config: RunnableConfig | undefined,
  { offline }: ModelConfig,
  options: CreateModelOptions,
): BaseChatModel {
  return new OfflineChatModel({
    script: options.offline ?? defaultScript,
    paceMs: offline.paceMs ?? paceFromEnv(),
    failAfterTokens: offline.failAfterTokens,
    callSite: callSiteOf(config),
    tags: options.tags,
  });
}

function paceFromEnv(): number {
  const text = process.env.THROUGHLINE_OFFLINE_PACE_MS;
  if (!text) return HUMAN_PACE_MS;
  const pace = Number(text);
  if (Number.isFinite(pace) && pace >= 0) return pace;
  throw new ThroughlineError(
    "invalid_input",
    `THROUGHLINE_OFFLINE_PACE_MS: expected milliseconds, got "${text}".`,
    { details: { field: "THROUGHLINE_OFFLINE_PACE_MS" } },
  );
}

/**
 * Node names and step of the call. Task ids are left out: they change from run to run, and offline ids must not.
 */
function callSiteOf(config: RunnableConfig | undefined): string {
  const metadata: Readonly<Record<string, unknown>> = config?.metadata ?? {};
  const namespace =
    typeof metadata.langgraph_checkpoint_ns === "string" ? metadata.langgraph_checkpoint_ns : "";
  const nodes = namespace.split("|").map((part) => part.split(":")[0]);
  return `${nodes.join("/")}#${String(metadata.langgraph_step ?? "")}`;
}

/** The offline model's script where a graph brings none of its own. */
const defaultScript: OfflineScript = ({ lastUserText }) => {
  const topic = lastUserText.replace(/\s+/g, " ").trim();
  const shown = topic.length > 80 ? `${topic.slice(0, 79)}…` : topic;
  const about = shown === "" ? "Hello." : `You wrote: “${shown}”.`;
  return [
    {
      kind: "text",
      text: `${about} I am the offline model: I answer from a script, without a network or a key. Set LITELLM_BASE_URL and LITELLM_API_KEY to talk to a real model instead.`,
    },
  ];
};

/**
 * The context schema of graphs that make their model with `createModel`: what a run may configure. A null counts as an
 * absent key.
 */
export const modelContextSchema = z.object({
  model: z.string().min(1).max(128).nullish().describe("A model's alias at LiteLLM."),
  offline: z
    .object({
      paceMs: z.number().min(0).max(60_000).optional().describe("Milliseconds between tokens."),
      failAfterTokens: z
        .number()
        .int()
        .min(0)
        .optional()
        .describe("Fails each answer after this many tokens."),
    })
    .nullish()
    .describe("How the offline model answers."),
});
