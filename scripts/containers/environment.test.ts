import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { jwtCaller } from "../../packages/langgraph-server/src/accounts/jwt-caller.js";
import { root } from "../workspace-packages.mjs";
import { DEV_ACCOUNT, fillSecrets, parseEnvironment } from "./environment.mjs";
import { signToken } from "./sign-token.mjs";

const example = readFileSync(join(root, ".env.local.example"), "utf8");

describe("a first environment", () => {
  const filled = parseEnvironment(fillSecrets(example));

  it("has a secret of its own for everything that needs one", () => {
    const secrets = ["POSTGRES_PASSWORD", "LITELLM_MASTER_KEY", "THROUGHLINE_JWT_SECRET"].map(
      (name) => filled[name],
    );
    for (const secret of secrets) expect(secret).toMatch(/^[\w-]{40,}$/);
    expect(new Set(secrets).size).toBe(3);
    expect(parseEnvironment(fillSecrets(example)).POSTGRES_PASSWORD).not.toBe(filled.POSTGRES_PASSWORD);
  });

  it("lets the account that gets a token use LiteLLM", () => {
    expect(JSON.parse(filled.LITELLM_VIRTUAL_KEYS ?? "")).toEqual({
      [DEV_ACCOUNT]: filled.LITELLM_MASTER_KEY,
    });
  });

  it("leaves keys of providers to the person", () => {
    expect(filled.OPENAI_API_KEY).toBe("");
    expect(filled.THROUGHLINE_DEFAULT_MODEL).toBe("offline");
  });
});

it("An environment file may have quotes, spaces and comments", () => {
  const text = "# A=1\nB=two words \n C='quoted'\nD=\"a=b\"\nnot a line\nE=\n";
  expect(parseEnvironment(text)).toEqual({ B: "two words", C: "quoted", D: "a=b", E: "" });
});

it("The service takes a token that was signed for an account, for a day", async () => {
  const secret = "0123456789abcdef0123456789abcdef";
  const caller = jwtCaller({ keys: { secret } });
  const ask = (now: number) =>
    caller.resolve({
      headers: new Headers({ authorization: `Bearer ${signToken({ secret, account: "acme", now })}` }),
    } as Parameters<typeof caller.resolve>[0]);
  expect(await ask(Date.now())).toMatchObject({ billingAccountId: "acme", virtualKeyId: "acme" });
  await expect(ask(Date.now() - 90_000_000)).rejects.toThrow("Invalid or expired token.");
});
