import { randomBytes } from "node:crypto";
import { type KeyResolver, ThroughlineError } from "@throughline/ai-core";
import { beforeEach, expect, it } from "vitest";
import { parseKeyRing } from "../keys/key-ring.js";
import type { KeyStore } from "../keys/key-store.js";
import { generatedKeys, importKey, resealKeys, storedKeys } from "../keys/resolvers.js";

const newSecret = (id: string) => `${id}:${randomBytes(32).toString("base64")}`;

/** What every key store does alike, and the resolvers on it. */
export function runKeyConformance(open: () => Promise<KeyStore>): void {
  let store: KeyStore;
  const ring = parseKeyRing(newSecret("first"));
  beforeEach(async () => {
    store = await open();
  });

  it("are stored sealed and opened for their account only", async () => {
    await importKey(store, ring, { account: "a", virtualKeyId: "vk", token: "sk-a" });
    expect(JSON.stringify(await store.find("a", "vk"))).not.toContain("sk-a");
    const keys = storedKeys(store, ring);
    expect(await keys.resolveKey("vk", "a")).toBe("sk-a");
    await expect(keys.resolveKey("vk", "b")).rejects.toThrow("no key");
    await expect(keys.resolveKey("vk")).rejects.toThrow("no key");
  });

  it("do not open in another account's row", async () => {
    await importKey(store, ring, { account: "a", virtualKeyId: "vk", token: "sk-a" });
    const stolen = await store.find("a", "vk");
    if (stolen) await store.put({ ...stolen, account: "b" });
    await expect(storedKeys(store, ring).resolveKey("vk", "b")).rejects.toThrow("can't be opened");
  });

  it("are resealed with a new secret, once", async () => {
    const second = newSecret("second");
    const text = newSecret("first");
    const old = parseKeyRing(text);
    await importKey(store, old, { account: "a", virtualKeyId: "vk-1", token: "sk-1" });
    await importKey(store, old, { account: "a", virtualKeyId: "vk-2", token: "sk-2" });
    const both = parseKeyRing(`${second},${text}`);
    expect(await resealKeys(store, both)).toBe(2);
    expect(await resealKeys(store, both)).toBe(0);
    const keys = storedKeys(store, parseKeyRing(second));
    expect(await keys.resolveKey("vk-2", "a")).toBe("sk-2");
  });

  it("are made once per account, whoever asks first and however many", async () => {
    const registered: string[] = [];
    const makers = [1, 2, 3].map(() =>
      generatedKeys({
        store,
        ring,
        admin: { registerKey: async ({ token, alias }) => void registered.push(`${alias} ${token}`) },
      }),
    );
    const tokens = await Promise.all(
      [...makers, ...makers].map((keys: KeyResolver) => keys.resolveKey("vk", "a")),
    );
    expect(new Set(tokens).size).toBe(1);
    expect(new Set(registered)).toEqual(new Set([`throughline:a:vk ${tokens[0]}`]));
    const before = registered.length;
    expect(await makers[0]?.resolveKey("vk", "a")).toBe(tokens[0]);
    expect(registered).toHaveLength(before);
    expect(await makers[0]?.resolveKey("vk", "b")).not.toBe(tokens[0]);
  });

  it("are registered later when LiteLLM was away, the same ones", async () => {
    const tokens: string[] = [];
    let isDown = true;
    const keys = generatedKeys({
      store,
      ring,
      admin: {
        async registerKey({ token }) {
          tokens.push(token);
          if (isDown) throw new ThroughlineError("upstream_unavailable", "away");
        },
      },
    });
    await expect(keys.resolveKey("vk", "a")).rejects.toThrow("away");
    isDown = false;
    expect(await keys.resolveKey("vk", "a")).toBe(tokens[0]);
    expect(tokens[1]).toBe(tokens[0]);
  });

  it("go with their account", async () => {
    await importKey(store, ring, { account: "a", virtualKeyId: "vk", token: "sk-a" });
    await importKey(store, ring, { account: "b", virtualKeyId: "vk", token: "sk-b" });
    await store.delete("a");
    expect(await store.find("a", "vk")).toBeUndefined();
    expect(await store.find("b", "vk")).toBeDefined();
  });
}
