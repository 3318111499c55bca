/** A tenant's key as it is stored: sealed. */
export interface StoredKey {
  readonly account: string;
  readonly virtualKeyId: string;
  readonly sealed: string;
  /** LiteLLM knows it. */
  readonly isRegistered: boolean;
}

/** Sealed keys, one per account and key id. */
export interface KeyStore {
  find(account: string, virtualKeyId: string): Promise<StoredKey | undefined>;
  /** Adds a key unless there is one, and gives the one that is there. Of several at once all get the same. */
  addOnce(key: StoredKey): Promise<StoredKey>;
  /** Sets or replaces a key. */
  put(key: StoredKey): Promise<void>;
  markRegistered(account: string, virtualKeyId: string): Promise<void>;
  /** Replaces a sealed text by another of the same token, unless the key has changed meanwhile. */
  reseal(key: StoredKey, sealed: string): Promise<boolean>;
  /** Keys that were not sealed with the secret of this id. */
  notSealedWith(secretId: string, limit: number): Promise<readonly StoredKey[]>;
  delete(account: string): Promise<void>;
}
