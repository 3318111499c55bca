import { randomBytes } from "node:crypto";
import { createSimulatedClock, type KeyResolver, ThroughlineError } from "@throughline/ai-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type PostgresFixture, startPostgresFixture } from "../testing/postgres-fixture.js";
import { cachedKeys } from "./cached-keys.js";
import { environmentKeys } from "./environment-keys.js";
import { firstKeyOf, generatedKeys } from "./generated-keys.js";
import { parseKeyRing } from "./key-ring.js";
import type { KeyStore } from "./key-store.js";
import { createMemoryKeyStore } from "./memory-key-store.js";
import { createPostgresKeyStore } from "./postgres-key-store.js";
import { importKey, resealKeys, storedKeys } from "./stored-keys.js";
import { withSystemTenant } from "./system-tenant.js";

const newSecret = (id: string) => `${id}:${randomBytes(32).toString("base64")}`;

describe("keys of the environment", () => {
  const keys = environmentKeys('{"vk-a":"sk-a","vk-b":{"token":"sk-b","account":"acct-b"}}');

  it("are found by their id", async () => {
    expect(await keys.resolveKey("vk-a", "anyone")).toBe("sk-a");
    expect(await keys.resolveKey("vk-b", "acct-b")).toBe("sk-b");
  });

  it("are refused when unknown or another account's, in the same words", async () => {
    await expect(keys.resolveKey("vk-x", "acct-a")).rejects.toThrow('no key "vk-x"');
    await expect(keys.resolveKey("vk-b", "acct-a")).rejects.toThrow('no key "vk-b"');
    await expect(keys.resolveKey("__proto__", "acct-a")).rejects.toThrow("no key");
  });

  it.each(["sk-secret-not-json", '{"a":1,"s":"sk-secret"}', '["sk-secret"]'])(
    "that can't be read are not repeated: %s",
    (setting) => {
      expect(() => environmentKeys(setting)).toThrow("LITELLM_VIRTUAL_KEYS");
      try {
        environmentKeys(setting);
      } catch (error) {
        expect(
          error instanceof ThroughlineError && [error.message, String(error.cause)].join(),
        ).not.toContain("sk-s");
      }
    },
  );
});

it("gives the service key to the accounts that are named, and to no other", async () => {
  const keys = withSystemTenant(environmentKeys('{"vk-a":"sk-a"}'), {
    accounts: new Set(["dev"]),
    serviceKey: "sk-service",
  });
  expect(await keys.resolveKey("vk-dev", "dev")).toBe("sk-service");
  expect(await keys.resolveKey("vk-a", "acct-a")).toBe("sk-a");
  await expect(keys.resolveKey("vk-dev", "acct-a")).rejects.toThrow("no key");
  await expect(keys.resolveKey("vk-dev")).rejects.toThrow("no key");
});

describe("cached keys", () => {
  it("are asked for once while they are fresh, per account, and again after a failure", async () => {
    const clock = createSimulatedClock();
    const asked: string[] = [];
    let isDown = false;
    const keys = cachedKeys(
      {
        async resolveKey(id, account) {
          asked.push(`${account}/${id}`);
          if (isDown) throw new Error("down");
          return `sk-${account}`;
        },
      },
      { freshMs: 1_000, clock },
    );
    await Promise.all([keys.resolveKey("k", "a"), keys.resolveKey("k", "a"), keys.resolveKey("k", "b")]);
    expect(asked).toEqual(["a/k", "b/k"]);
    clock.advance(1_000);
    isDown = true;
    await expect(keys.resolveKey("k", "a")).rejects.toThrow("down");
    isDown = false;
    expect(await keys.resolveKey("k", "a")).toBe("sk-a");
    expect(asked).toHaveLength(4);
  });
});

describe("keys in a table", () => {
  let fixture: PostgresFixture;
  beforeAll(async () => {
    fixture = await startPostgresFixture();
  });
  afterAll(() => fixture.close());

  describe.each<[string, () => Promise<KeyStore>]>([
    ["memory", async () => createMemoryKeyStore()],
    ["PostgreSQL", async () => createPostgresKeyStore(await fixture.openDatabase())],
  ])("in %s", (_, open) => {
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
  });
});

it("tries resolvers in order, and stops at what is no missing key", async () => {
  const keys = firstKeyOf(environmentKeys("{}"), environmentKeys('{"vk":"sk"}'));
  expect(await keys.resolveKey("vk", "a")).toBe("sk");
  await expect(keys.resolveKey("other", "a")).rejects.toThrow('no key "other"');
  const broken = firstKeyOf(
    { resolveKey: () => Promise.reject(new Error("broken")) },
    environmentKeys('{"vk":"sk"}'),
  );
  await expect(broken.resolveKey("vk", "a")).rejects.toThrow("broken");
});
