import type { KeyResolver } from "@throughline/ai-core";
import type { KeyRing } from "./key-ring.js";
import type { KeyStore, StoredKey } from "./key-store.js";
import { unknownKey } from "./unknown-key.js";

/** What a sealed key belongs to. Neither part can hold a line break. */
export function sealContext({ account, virtualKeyId }: Pick<StoredKey, "account" | "virtualKeyId">): string {
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
