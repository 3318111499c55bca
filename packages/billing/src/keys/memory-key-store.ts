import type { KeyStore, StoredKey } from "./key-store.js";

/** For tests and for services without a database. */
export function createMemoryKeyStore(): KeyStore {
  const keys = new Map<string, StoredKey>();
  const nameOf = (account: string, virtualKeyId: string) => JSON.stringify([account, virtualKeyId]);
  const put = (key: StoredKey) => void keys.set(nameOf(key.account, key.virtualKeyId), key);
  return {
    async find(account, virtualKeyId) {
      return keys.get(nameOf(account, virtualKeyId));
    },
    async addOnce(key) {
      const there = keys.get(nameOf(key.account, key.virtualKeyId));
      if (there) return there;
      put(key);
      return key;
    },
    async put(key) {
      put(key);
    },
    async markRegistered(account, virtualKeyId) {
      const key = keys.get(nameOf(account, virtualKeyId));
      if (key) put({ ...key, isRegistered: true });
    },
    async reseal(key, sealed) {
      const there = keys.get(nameOf(key.account, key.virtualKeyId));
      if (there?.sealed !== key.sealed) return false;
      put({ ...there, sealed });
      return true;
    },
    async notSealedWith(secretId, limit) {
      return [...keys.values()].filter(({ sealed }) => sealed.split(".")[1] !== secretId).slice(0, limit);
    },
    async delete(account) {
      for (const [name, key] of keys) if (key.account === account) keys.delete(name);
    },
  };
}
