import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createSimulatedClock, ThroughlineError } from "@throughline/ai-core";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import type { Role } from "./actions.js";
import { type CallerResolver, customCaller, devCaller, guardAddress, type Ingress } from "./callers.js";
import { jwtCaller } from "./jwt-caller.js";

const SECRET = "a secret that is long enough to be one, really";
const NOW = Date.UTC(2030, 0, 1);
const clock = createSimulatedClock(NOW);

function ingress(
  headers: Record<string, string> = {},
  remoteAddress: string | undefined = "127.0.0.1",
): Ingress {
  return { headers: new Headers(headers), url: new URL("http://localhost:8000/"), remoteAddress };
}

const bearer = (token: string) => ingress({ authorization: `Bearer ${token}` });

async function codeOf(resolver: CallerResolver, request: Ingress): Promise<string | undefined> {
  try {
    await resolver.resolve(request);
    return undefined;
  } catch (error) {
    return error instanceof ThroughlineError ? error.code : "not ours";
  }
}

function sign(claims: Record<string, unknown>, secret = SECRET, expires: number | null = NOW / 1_000 + 60) {
  const token = new SignJWT(claims).setProtectedHeader({ alg: "HS256" });
  if (expires !== null) token.setExpirationTime(expires);
  return token.sign(new TextEncoder().encode(secret));
}

describe("the dev caller", () => {
  it("takes whoever is on this machine for the account they say they are", async () => {
    expect(await devCaller().resolve(ingress())).toEqual({
      billingAccountId: "dev",
      virtualKeyId: "dev",
      role: "admin",
    });
    const named = ingress({ "x-throughline-account": "acme", "x-throughline-subject": "ann" });
    expect(await devCaller().resolve(named)).toMatchObject({ billingAccountId: "acme", subject: "ann" });
  });

  it("takes the machine's owner for an admin, a person for an operator, and the role that is named", async () => {
    const roleOf = async (headers: Record<string, string>) =>
      (await devCaller().resolve(ingress(headers))).role;
    expect(await roleOf({})).toBe("admin");
    expect(await roleOf({ "x-throughline-subject": "ann" })).toBe("operator");
    expect(await roleOf({ "x-throughline-role": "viewer" })).toBe("viewer");
    for (const unknown of ["root", "Admin", "admin,viewer", "", "__proto__"]) {
      expect(await codeOf(devCaller(), ingress({ "x-throughline-role": unknown }))).toBe("unauthorized");
    }
  });

  it("refuses other machines, and names that were pointed at this one", async () => {
    expect(await codeOf(devCaller(), ingress({}, "10.0.0.7"))).toBe("unauthorized");
    expect(await codeOf(devCaller(), ingress({ host: "evil.example.com" }))).toBe("unauthorized");
    expect(await codeOf(devCaller(), ingress({ host: "[::1]:8000" }, "::1"))).toBeUndefined();
    expect(await codeOf(devCaller(), ingress({ host: "localhost.evil.com" }))).toBe("unauthorized");
  });

  it.each([
    "forwarded",
    "via",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-forwarded-server",
    "x-real-ip",
  ])("refuses what a proxy on this machine sends on with %s", async (name) => {
    expect(await codeOf(devCaller(), ingress({ host: "127.0.0.1:8000", [name]: "127.0.0.1" }))).toBe(
      "unauthorized",
    );
  });

  it("refuses pages of other sites, and answers those of this machine and those it is told of", async () => {
    const of = (origin: string) => ingress({ host: "localhost:8000", origin });
    for (const foreign of ["https://evil.example.com", "null", "http://localhost.evil.com", "file://"]) {
      expect(await codeOf(devCaller(), of(foreign))).toBe("unauthorized");
    }
    expect(await codeOf(devCaller(), ingress({ "sec-fetch-site": "cross-site" }))).toBe("unauthorized");
    for (const own of ["http://localhost:3000", "http://127.0.0.1:5173", "http://[::1]:3000"]) {
      expect(await codeOf(devCaller(), of(own))).toBeUndefined();
    }
    const told = devCaller({ origins: ["https://console.example.com"] });
    expect(await codeOf(told, of("https://console.example.com"))).toBeUndefined();
    expect(await codeOf(told, of("https://evil.example.com"))).toBe("unauthorized");
  });

  it("takes two spellings of one name for one person", async () => {
    const spelled = (subject: string) =>
      customCaller(() => ({ billingAccountId: "a", virtualKeyId: "v", subject }));
    const composed = await spelled("Zo\u00eb").resolve(ingress());
    const decomposed = await spelled("Zoe\u0308").resolve(ingress());
    expect(decomposed).toEqual(composed);
  });

  it("refuses an account no account can be called", async () => {
    expect(await codeOf(devCaller(), ingress({ "x-throughline-account": "a:b" }))).toBe("invalid_input");
  });
});

describe("the JWT caller", () => {
  const resolver = jwtCaller({ keys: { secret: SECRET }, clock });

  it("reads account, subject, key and expiry from a valid token", async () => {
    const token = await sign({ billing_account_id: "acme", sub: "ann", virtual_key_id: "vk-1" });
    expect(await resolver.resolve(bearer(token))).toEqual({
      billingAccountId: "acme",
      subject: "ann",
      virtualKeyId: "vk-1",
      expiresAt: NOW + 60_000,
    });
  });

  it("reads the claims it is told to read, and knows a trusted service by one of them", async () => {
    const custom = jwtCaller({
      keys: { secret: SECRET },
      clock,
      claims: { account: "org", subject: null, service: "is_service" },
    });
    const token = await sign({ org: "acme", sub: "ann", is_service: true });
    expect(await custom.resolve(bearer(token))).toEqual({
      billingAccountId: "acme",
      virtualKeyId: "acme",
      expiresAt: NOW + 60_000,
      isTrustedService: true,
    });
  });

  it("reads the role from its claim, and refuses a token whose role is unknown", async () => {
    const account = { billing_account_id: "acme" };
    const roleOf = async (claims: object) =>
      (await resolver.resolve(bearer(await sign({ ...account, ...claims })))).role;
    expect(await roleOf({})).toBeUndefined();
    expect(await roleOf({ throughline_role: "approver" })).toBe("approver");
    for (const unknown of ["root", "ADMIN", "", null, ["admin"], 7, true]) {
      expect(await codeOf(resolver, bearer(await sign({ ...account, throughline_role: unknown })))).toBe(
        "unauthorized",
      );
    }
    const renamed = jwtCaller({ keys: { secret: SECRET }, clock, claims: { role: "app_role" } });
    const token = await sign({ ...account, app_role: "viewer", throughline_role: "admin" });
    expect((await renamed.resolve(bearer(token))).role).toBe("viewer");
  });

  it("refuses what is missing, forged, expired, endless, unsigned or for somebody else", async () => {
    const strict = jwtCaller({ keys: { secret: SECRET }, clock, issuer: "us", audience: "throughline" });
    const account = { billing_account_id: "acme" };
    const unsigned = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${Buffer.from(
      JSON.stringify({ ...account, exp: NOW }),
    ).toString("base64url")}.`;
    expect(await codeOf(resolver, ingress())).toBe("unauthorized");
    expect(await codeOf(resolver, bearer("garbage"))).toBe("unauthorized");
    expect(await codeOf(resolver, bearer(unsigned))).toBe("unauthorized");
    expect(
      await codeOf(resolver, bearer(await sign(account, "another secret that is also long enough"))),
    ).toBe("unauthorized");
    expect(await codeOf(resolver, bearer(await sign(account, SECRET, NOW / 1_000 - 1)))).toBe("unauthorized");
    expect(await codeOf(resolver, bearer(await sign(account, SECRET, null)))).toBe("unauthorized");
    expect(await codeOf(strict, bearer(await sign({ ...account, iss: "them", aud: "throughline" })))).toBe(
      "unauthorized",
    );
    expect(
      await codeOf(strict, bearer(await sign({ ...account, iss: "us", aud: "throughline" }))),
    ).toBeUndefined();
  });

  it("refuses a token without an account, or with one no account can be called", async () => {
    expect(await codeOf(resolver, bearer(await sign({ sub: "ann" })))).toBe("unauthorized");
    expect(await codeOf(resolver, bearer(await sign({ billing_account_id: "a:b" })))).toBe("unauthorized");
    expect(await codeOf(resolver, bearer(await sign({ billing_account_id: 7 })))).toBe("unauthorized");
    await expect(resolver.resolve(bearer(await sign({ org: "acme" })))).rejects.toThrow(
      "THROUGHLINE_JWT_ACCOUNT_CLAIM",
    );
  });

  it("refuses a secret that could be guessed", () => {
    expect(() => jwtCaller({ keys: { secret: "short" } })).toThrow("shorter than 32 bytes");
  });

  it("verifies against published keys, and never takes a public key for a secret", async () => {
    const { publicKey, privateKey } = await generateKeyPair("RS256", { extractable: true });
    const jwk = { ...(await exportJWK(publicKey)), kid: "k1", alg: "RS256" };
    const server = createServer((_, response) => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ keys: [jwk] }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const { port } = server.address() as AddressInfo;
      const published = jwtCaller({
        keys: { jwksUrl: new URL(`http://127.0.0.1:${port}/jwks`) },
        issuer: "us",
        audience: "throughline",
        clock,
      });
      const signed = (kid: string, audience: string) =>
        new SignJWT({ billing_account_id: "acme", iss: "us", aud: audience })
          .setProtectedHeader({ alg: "RS256", kid })
          .setExpirationTime(NOW / 1_000 + 60)
          .sign(privateKey);
      const token = await signed("k1", "throughline");
      expect(await published.resolve(bearer(token))).toMatchObject({ billingAccountId: "acme" });
      expect(await codeOf(published, bearer(await signed("k1", "another application")))).toBe("unauthorized");
      expect(await codeOf(published, bearer(await sign({ billing_account_id: "acme" })))).toBe(
        "unauthorized",
      );
    } finally {
      server.close();
    }
  });
});

describe("a caller resolver of your own", () => {
  it("is asked and believed, and nobody is nobody", async () => {
    const resolver = customCaller(({ headers }) =>
      headers.get("x-user") === "ann" ? { billingAccountId: "acme", virtualKeyId: "vk" } : undefined,
    );
    expect(await resolver.resolve(ingress({ "x-user": "ann" }))).toMatchObject({ billingAccountId: "acme" });
    expect(await codeOf(resolver, ingress())).toBe("unauthorized");
  });

  it("is refused with a role there is not, whatever it meant by that", async () => {
    const given = (role: unknown) =>
      // A caller of ours in JavaScript is not held to the type.
      customCaller(() => ({ billingAccountId: "acme", virtualKeyId: "vk", role: role as Role }));
    expect(await given("viewer").resolve(ingress())).toMatchObject({ role: "viewer" });
    for (const unknown of ["root", null, 1])
      expect(await codeOf(given(unknown), ingress())).toBe("unauthorized");
  });

  it("is not believed when it gives an account no account can be called", async () => {
    const resolver = customCaller(() => ({ billingAccountId: "a:b", virtualKeyId: "vk" }));
    expect(await codeOf(resolver, ingress())).toBe("not ours");
  });
});

describe("a server that lets everybody in", () => {
  it("starts on loopback only, and says what to set", () => {
    for (const host of ["127.0.0.1", "localhost", "::1"]) guardAddress(devCaller(), host);
    for (const host of ["0.0.0.0", "::", "10.0.0.7", "example.com"]) {
      expect(() => guardAddress(devCaller(), host)).toThrow(
        "Set THROUGHLINE_JWT_SECRET or THROUGHLINE_JWKS_URL",
      );
    }
    guardAddress(jwtCaller({ keys: { secret: SECRET } }), "0.0.0.0");
  });
});
