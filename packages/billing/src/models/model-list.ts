import { type Clock, systemClock, ThroughlineError } from "@throughline/ai-core";
import { hashKey } from "../keys/hash-key.js";
import type { LitellmAdmin } from "../litellm/litellm-admin.js";
import { type ModelInfo, readModels } from "./model-info.js";

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

/** What a tenant may ask for, as LiteLLM tells its key. */
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

/** Kept by a key's hash: a key that is replaced has a list of its own, and no key is held. */
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
