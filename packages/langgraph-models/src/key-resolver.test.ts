import { ThroughlineError } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { envKeyResolver, UNNAMED_KEY_ID } from "./keys.js";

const env = { LITELLM_VIRTUAL_KEYS: '{"key-1":"sk-one"}', LITELLM_API_KEY: "sk-service" };

describe("keys from the environment", () => {
  it("gives a named key its own token, and a run that names none the service key", async () => {
    const keys = envKeyResolver(env);
    await expect(keys.resolveKey("key-1")).resolves.toBe("sk-one");
    await expect(keys.resolveKey(UNNAMED_KEY_ID)).resolves.toBe("sk-service");
  });

  it.each(["key-2", "default", "constructor", "__proto__"])(
    "refuses the unknown id %s by name, and never falls back to the service key",
    async (id) => {
      const refused = envKeyResolver(env).resolveKey(id);
      await expect(refused).rejects.toBeInstanceOf(ThroughlineError);
      await expect(refused).rejects.toMatchObject({ code: "unauthorized" });
      await expect(refused).rejects.toThrow(new RegExp(`"${id}".*LITELLM_VIRTUAL_KEYS`));
    },
  );

  it("gives a key that is for one account to no other", async () => {
    const keys = envKeyResolver({ LITELLM_VIRTUAL_KEYS: '{"key-1":{"token":"sk-one","account":"acme"}}' });
    await expect(keys.resolveKey("key-1", "acme")).resolves.toBe("sk-one");
    await expect(keys.resolveKey("key-1", "other")).rejects.toMatchObject({ code: "unauthorized" });
  });

  it("says which variable is missing when no key is named", async () => {
    await expect(envKeyResolver({}).resolveKey(UNNAMED_KEY_ID)).rejects.toThrow("LITELLM_API_KEY");
  });

  it.each(["sk-secret", '["sk-secret"]', '{"key-1":{"token":"sk-secret"}}'])(
    "refuses a malformed map without repeating it: %s",
    async (text) => {
      const refused = envKeyResolver({ LITELLM_VIRTUAL_KEYS: text }).resolveKey("key-1");
      const error = await refused.then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(error).toMatchObject({ code: "unauthorized" });
      expect(error instanceof Error ? `${error.message} ${String(error.cause)}` : "").not.toContain(
        "sk-secret",
      );
    },
  );
});
