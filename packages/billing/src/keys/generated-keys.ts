import { randomBytes } from "node:crypto";
import { type KeyResolver, ThroughlineError } from "@throughline/ai-core";
import type { LitellmAdmin } from "../litellm/litellm-admin.js";
import type { KeyRing } from "./key-ring.js";
import type { KeyStore } from "./key-store.js";
import { sealContext } from "./stored-keys.js";
import { unknownKey } from "./unknown-key.js";

export interface GeneratedKeysOptions {
  readonly store: KeyStore;
  readonly ring: KeyRing;
  readonly admin: Pick<LitellmAdmin, "registerKey">;
  /** What LiteLLM itself allows the key, as a backstop: models, budget. */
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

/** Tries resolvers in order, as long as they say that they don't have the key. */
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
