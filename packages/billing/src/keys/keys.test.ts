import { createSimulatedClock, ThroughlineError } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { runKeyConformance } from "../conformance/run-key-conformance.js";
import { createMemoryKeyStore } from "../memory.js";
import { cachedKeys, environmentKeys, firstKeyOf, withSystemTenant } from "./resolvers.js";

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
    isSystemAccount: (account) => account === "dev",
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

describe("keys in a table in memory", () => {
  runKeyConformance(async () => createMemoryKeyStore());
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
