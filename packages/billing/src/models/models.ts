import { type Clock, systemClock, ThroughlineError } from "@throughline/ai-core";
import { z } from "zod";
import { hashKey } from "../keys/resolvers.js";
import { type Picodollars, parseCost } from "../ledger/money.js";
import type { LitellmAdmin } from "../litellm/admin.js";

export interface ModelListing {
  readonly models: readonly ModelInfo[];
  readonly loadedAt: number;
  /** LiteLLM could not be asked lately. */
  readonly isStale: boolean;
}

export interface ModelListOptions {
  readonly admin: Pick<LitellmAdmin, "read">;
  readonly clock?: Clock;
  /** Default 60 s. */
  readonly freshMs?: number;
  /** How old a list may be when LiteLLM is away. Default 10 min. */
  readonly staleMs?: number;
}

/** The models that a tenant may request, as LiteLLM lists them for its key. */
export interface ModelList {
  /** Throws `unauthorized` where LiteLLM refuses the key, `models_unavailable` where it is away and no list is young enough. */
  of(token: string): Promise<ModelListing>;
  /** Asks again at the next call: LiteLLM refused a model that was on the list. */
  expire(token: string): void;
}

interface Held {
  readonly listing: Omit<ModelListing, "isStale"> | undefined;
  readonly askAgainAt: number;
  /** LiteLLM refused the key: what it listed before no longer counts. */
  readonly refusal?: ThroughlineError;
}

/** While LiteLLM is away it is asked this often. */
const RETRY_MS = 5_000;
const MAX_TENANTS = 1_000;

/** Caches model lists by the hash of a key: a key that is replaced has a list of its own, and no key is held. */
export function createModelList(options: ModelListOptions): ModelList {
  const { admin, clock = systemClock, freshMs = 60_000, staleMs = 600_000 } = options;
  const held = new Map<string, Held>();
  const loading = new Map<string, Promise<void>>();

  async function load(name: string, token: string): Promise<void> {
    try {
      const models = readModels(await admin.read("/model_group/info", {}, token));
      const loadedAt = clock.now();
      if (held.size >= MAX_TENANTS) held.clear();
      held.set(name, { listing: { models, loadedAt }, askAgainAt: loadedAt + freshMs });
    } catch (error) {
      const askAgainAt = clock.now() + RETRY_MS;
      const isRefused = error instanceof ThroughlineError && error.code === "unauthorized";
      held.set(
        name,
        isRefused
          ? { listing: undefined, askAgainAt, refusal: error }
          : { listing: held.get(name)?.listing, askAgainAt },
      );
    }
  }

  /** Those who ask together wait for one answer. */
  function loadOnce(name: string, token: string): Promise<void> {
    const under = loading.get(name) ?? load(name, token).finally(() => loading.delete(name));
    loading.set(name, under);
    return under;
  }

  return {
    async of(token) {
      const name = hashKey(token);
      if ((held.get(name)?.askAgainAt ?? 0) <= clock.now()) await loadOnce(name, token);
      const { listing, refusal } = held.get(name) ?? {};
      if (refusal) throw refusal;
      const age = listing ? clock.now() - listing.loadedAt : Number.POSITIVE_INFINITY;
      if (!listing || age > staleMs) {
        throw new ThroughlineError(
          "models_unavailable",
          "The list of models can't be read from LiteLLM right now.",
          {
            details: { retryAfterMs: RETRY_MS },
          },
        );
      }
      return { ...listing, isStale: age >= freshMs };
    },
    expire(token) {
      const name = hashKey(token);
      const known = held.get(name);
      if (known) held.set(name, { ...known, askAgainAt: 0 });
    },
  };
}

/** A model as people may see it. Where it is served and by whom stays behind LiteLLM. */
export interface ModelInfo {
  readonly id: string;
  /** Per token; `null` where LiteLLM has no price, which is not the same as free. */
  readonly inputPrice: Picodollars | null;
  readonly outputPrice: Picodollars | null;
  readonly maxInputTokens: number | null;
  readonly maxOutputTokens: number | null;
  readonly takesImages: boolean;
  readonly callsTools: boolean;
  readonly reasons: boolean;
}

const limit = z.number().nullish().catch(null);
const ability = z.boolean().nullish().catch(false);
const price = z
  .unknown()
  .transform((value) => parseCost(value) ?? null)
  .optional();

const groupSchema = z.object({
  model_group: z.string().min(1),
  input_cost_per_token: price,
  output_cost_per_token: price,
  max_input_tokens: limit,
  max_output_tokens: limit,
  supports_vision: ability,
  supports_function_calling: ability,
  supports_reasoning: ability,
});
const answerSchema = z.object({ data: z.array(z.unknown()) });

/**
 * Reads LiteLLM's `/model_group/info`: one entry per alias, only what is listed above. `/model/info` has the same with one entry
 * per deployment, and shows providers' addresses. An entry that can't be read is left out: a model we know nothing of is not
 * allowed.
 */
export function readModels(answer: unknown): readonly ModelInfo[] {
  return answerSchema.parse(answer).data.flatMap((entry) => {
    const read = groupSchema.safeParse(entry);
    if (!read.success) return [];
    const { data } = read;
    return [
      {
        id: data.model_group,
        inputPrice: data.input_cost_per_token ?? null,
        outputPrice: data.output_cost_per_token ?? null,
        maxInputTokens: data.max_input_tokens ?? null,
        maxOutputTokens: data.max_output_tokens ?? null,
        takesImages: data.supports_vision ?? false,
        callsTools: data.supports_function_calling ?? false,
        reasons: data.supports_reasoning ?? false,
      },
    ];
  });
}

/** Throws `model_not_allowed`, naming the allowed ones, unless the model is on the list. */
export function requireAllowedModel(models: readonly ModelInfo[], model: string | null): void {
  if (model !== null && models.some(({ id }) => id === model)) return;
  const allowed = models.map(({ id }) => id);
  const available =
    allowed.length > 0 ? `Available: ${allowed.join(", ")}.` : "None is available to this account.";
  throw new ThroughlineError(
    "model_not_allowed",
    model === null ? `The request names no model. ${available}` : `Unknown model "${model}". ${available}`,
    { details: { model, allowed } },
  );
}
