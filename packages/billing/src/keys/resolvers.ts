import { createHash, randomBytes } from "node:crypto";
import { type Clock, type KeyResolver, systemClock, ThroughlineError } from "@throughline/ai-core";
import { z } from "zod";
import type { LitellmAdmin } from "../litellm/admin.js";
import type { KeyRing } from "./key-ring.js";
import type { KeyStore, StoredKey } from "./key-store.js";

interface Cached {
  readonly until: number;
  readonly token: Promise<string>;
}

const MAX_CACHED = 10_000;

/** Asks once per `freshMs` for a key, also when many calls ask together. A failure is not remembered. */
export function cachedKeys(
  keys: KeyResolver,
  { freshMs = 30_000, clock = systemClock }: { readonly freshMs?: number; readonly clock?: Clock } = {},
): KeyResolver {
  const cache = new Map<string, Cached>();
  return {
    async resolveKey(virtualKeyId, account) {
      const name = JSON.stringify([account, virtualKeyId]);
      const known = cache.get(name);
      if (known && known.until > clock.now()) return known.token;
      const token = keys.resolveKey(virtualKeyId, account);
      const entry = { until: clock.now() + freshMs, token };
      if (cache.size >= MAX_CACHED) cache.clear();
      cache.set(name, entry);
      token.catch(() => {
        if (cache.get(name) === entry) cache.delete(name);
      });
      return token;
    },
  };
}

export interface GeneratedKeysOptions {
  readonly store: KeyStore;
  readonly ring: KeyRing;
  readonly admin: Pick<LitellmAdmin, "registerKey">;
  /** Limits that LiteLLM itself enforces on the key, as a backstop: models, budget. */
  readonly limitsOf?: (account: string) => Readonly<Record<string, unknown>>;
}

/**
 * Makes an account's key on its first call. The token is ours: it is stored first and then registered with LiteLLM, so that
 * of several instances all register the same one, and a crash between leaves nothing that can't be registered again.
 */
export function generatedKeys({
  store,
  ring,
  admin,
  limitsOf = () => ({}),
}: GeneratedKeysOptions): KeyResolver {
  return {
    async resolveKey(virtualKeyId, account) {
      if (account === undefined) throw unknownKey(virtualKeyId);
      const name = { account, virtualKeyId };
      const known =
        (await store.find(account, virtualKeyId)) ??
        (await store.addOnce({
          ...name,
          sealed: ring.seal(newToken(), sealContext(name)),
          isRegistered: false,
        }));
      const token = ring.open(known.sealed, sealContext(known));
      if (known.isRegistered) return token;
      await admin.registerKey({
        token,
        alias: `throughline:${account}:${virtualKeyId}`,
        metadata: { billingAccountId: account, virtualKeyId },
        limits: limitsOf(account),
      });
      await store.markRegistered(account, virtualKeyId);
      return token;
    },
  };
}

/** LiteLLM wants `sk-` in front. */
function newToken(): string {
  return `sk-${randomBytes(32).toString("base64url")}`;
}

/** Tries resolvers in order, as long as they report that they don't have the key. */
export function firstKeyOf(...resolvers: readonly KeyResolver[]): KeyResolver {
  return {
    async resolveKey(virtualKeyId, account) {
      for (const resolver of resolvers) {
        try {
          return await resolver.resolveKey(virtualKeyId, account);
        } catch (error) {
          if (!(error instanceof ThroughlineError && error.code === "unauthorized")) throw error;
        }
      }
      throw unknownKey(virtualKeyId);
    },
  };
}

/** The owner and id that a sealed key is bound to. Neither part can hold a line break. */
function sealContext({ account, virtualKeyId }: Pick<StoredKey, "account" | "virtualKeyId">): string {
  return `${account}\n${virtualKeyId}`;
}

/** Keys from the table. A call without an account has none. */
export function storedKeys(store: KeyStore, ring: KeyRing): KeyResolver {
  return {
    async resolveKey(virtualKeyId, account) {
      const key = account === undefined ? undefined : await store.find(account, virtualKeyId);
      if (!key) throw unknownKey(virtualKeyId);
      return ring.open(key.sealed, sealContext(key));
    },
  };
}

/** Stores a key that was made elsewhere. */
export async function importKey(
  store: KeyStore,
  ring: KeyRing,
  { token, ...name }: { readonly account: string; readonly virtualKeyId: string; readonly token: string },
): Promise<void> {
  await store.put({ ...name, sealed: ring.seal(token, sealContext(name)), isRegistered: true });
}

const RESEALED_AT_ONCE = 100;

/** Seals with the current secret what was sealed with an older one. Gives how many; afterwards the older ones can go. */
export async function resealKeys(store: KeyStore, ring: KeyRing): Promise<number> {
  for (let count = 0; ; ) {
    const old = await store.notSealedWith(ring.currentId, RESEALED_AT_ONCE);
    if (old.length === 0) return count;
    for (const key of old) {
      const context = sealContext(key);
      if (await store.reseal(key, ring.seal(ring.open(key.sealed, context), context))) count += 1;
    }
  }
}

/**
 * Gives the service key to the accounts that are named as the system tenant, and to no other: everyone else's calls carry a
 * key of their own. Under dev sign-in these are the dev accounts, so that one key serves a laptop.
 */
export function withSystemTenant(
  keys: KeyResolver,
  {
    isSystemAccount,
    serviceKey,
  }: { readonly isSystemAccount: (account: string) => boolean; readonly serviceKey: string },
): KeyResolver {
  return {
    async resolveKey(virtualKeyId, account) {
      if (account !== undefined && isSystemAccount(account)) return serviceKey;
      return keys.resolveKey(virtualKeyId, account);
    },
  };
}

/** The error for a key that does not exist and for another account's alike: it does not reveal which ids exist. */
function unknownKey(virtualKeyId: string): ThroughlineError {
  return new ThroughlineError("unauthorized", `This account has no key "${virtualKeyId}" for model calls.`, {
    details: { virtualKeyId },
  });
}

/** As LiteLLM names a key in its logs. */
export function hashKey(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

const entrySchema = z.union([
  z
    .string()
    .min(1)
    .transform((token) => ({ token, account: undefined })),
  z.object({ token: z.string().min(1), account: z.string().min(1) }),
]);
const keysSchema = z.record(z.string().min(1), entrySchema);

/**
 * Keys from a setting: a JSON object of key id to token, or to `{ token, account }` where a key is for one account only. A key
 * that is not in it is refused: falling back to another would bill another account.
 */
export function environmentKeys(setting: string | undefined): KeyResolver {
  const keys = new Map(Object.entries(parseKeys(setting ?? "{}")));
  return {
    async resolveKey(virtualKeyId, account) {
      const key = keys.get(virtualKeyId);
      const isOthers = key?.account !== undefined && account !== undefined && key.account !== account;
      if (!key || isOthers) throw unknownKey(virtualKeyId);
      return key.token;
    },
  };
}

function parseKeys(setting: string): z.infer<typeof keysSchema> {
  try {
    return keysSchema.parse(JSON.parse(setting));
  } catch {
    // Neither the setting nor a cause is passed on: both may hold a token.
    throw new ThroughlineError(
      "invalid_input",
      'LITELLM_VIRTUAL_KEYS must be a JSON object of key id to token: {"key-1":"sk-…"}.',
    );
  }
}
