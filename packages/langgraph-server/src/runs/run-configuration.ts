import {
  acceptsModel,
  contextKeysOf,
  contextPropertiesOf,
  type GraphDescriptor,
  isReservedConfigKey,
  type Json,
  type RunConfig,
  ThroughlineError,
} from "@throughline/ai-core";
import { z } from "zod";
import type { RunBilling } from "../accounts/billing.js";
import { payerOf } from "../threads/run-spec.js";
import type { StartRunRequest } from "./start-request.js";

/**
 * Selects the model that a run is started with: the run's own choice, else the thread's, else that of the run it repeats, else the
 * agent's, else the account's default. `undefined` leaves the graph its own model, which is always so where the graph's context
 * schema declares no `model`. Where the schema is not known, only what was chosen for this agent or run counts.
 */
export async function selectModel(
  billing: Pick<RunBilling, "defaultModelOf" | "requireStart">,
  agent: GraphDescriptor,
  request: Pick<StartRunRequest, "model" | "priorModel" | "caller" | "person">,
  remembered: string | undefined,
): Promise<string | undefined> {
  const payer = payerOf(request);
  const accepts = acceptsModel(agent);
  if (request.model !== undefined) {
    if (accepts === false) throw modelNotAccepted(agent);
    return billing.requireStart(payer, request.model);
  }
  if (accepts === false) return billing.requireStart(payer, undefined);
  for (const candidate of [remembered, request.priorModel]) {
    if (candidate === undefined) continue;
    try {
      return await billing.requireStart(payer, candidate);
    } catch (error) {
      // Not chosen by this request, so a model that is no longer allowed is passed over.
      if (!(error instanceof ThroughlineError) || error.code !== "model_not_allowed") throw error;
    }
  }
  const fallback = agent.model ?? (accepts ? await billing.defaultModelOf(payer) : undefined);
  return billing.requireStart(payer, fallback);
}

function modelNotAccepted({ graphName }: GraphDescriptor): ThroughlineError {
  return new ThroughlineError(
    "invalid_input",
    `model: the graph "${graphName}" accepts no model, because its context schema declares no key "model". Leave it out: the graph's own model answers.`,
    { details: { field: "model" } },
  );
}

/**
 * Refuses a run's configuration that its graph does not declare: keys that are reserved, unknown to the context schema, or of
 * another type than it declares.
 */
export function requireAcceptedConfig(agent: GraphDescriptor, config: RunConfig | undefined): void {
  const declared = contextKeysOf(agent);
  for (const [key, value] of Object.entries(config?.configurable ?? {})) {
    if (key === "model") throw refused(key, "name the model as `model` of the run, not here");
    if (isReservedConfigKey(key)) throw refused(key, "is set by the service, and can't be sent");
    if (declared && !declared.includes(key)) {
      const known = declared.filter((name) => name !== "model");
      throw refused(
        key,
        `the graph "${agent.graphName}" declares no such key. ${known.length > 0 ? `It declares: ${known.join(", ")}.` : "It declares none."}`,
      );
    }
    const problem = problemOf(contextPropertiesOf(agent.contextSchema ?? {})[key], value);
    if (problem !== undefined) throw refused(key, problem);
  }
}

function refused(key: string, why: string): ThroughlineError {
  const field = `config.configurable.${key}`;
  return new ThroughlineError("invalid_input", `${field}: ${why}`, { details: { field } });
}

/** The reason why a value does not fit a key's schema; `undefined` where it does, and where the schema can't be read. */
function problemOf(schema: Json | undefined, value: Json): string | undefined {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return undefined;
  try {
    return z.fromJSONSchema(schema).safeParse(value).error?.issues[0]?.message;
  } catch {
    return undefined;
  }
}
