import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createSimulatedClock, systemClock, ThroughlineError } from "@throughline/ai-core";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { verifyByPublishedKeys } from "./jwt-caller.js";

const MINUTE = 60_000;
const OPTIONS = { algorithms: ["RS256"] };

describe("Published keys", () => {
  let server: Server;
  let isAway = false;
  let asked = 0;
  let url: URL;
  let sign: (kid: string) => Promise<string>;

  beforeEach(async () => {
    const { publicKey, privateKey } = await generateKeyPair("RS256", { extractable: true });
    const jwk = { ...(await exportJWK(publicKey)), kid: "known", alg: "RS256" };
    isAway = false;
    asked = 0;
    server = createServer((_, response) => {
      asked += 1;
      response.statusCode = isAway ? 500 : 200;
      response.end(JSON.stringify({ keys: [jwk] }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`);
    sign = (kid) => new SignJWT({ sub: "ann" }).setProtectedHeader({ alg: "RS256", kid }).sign(privateKey);
  });
  afterEach(() => {
    vi.useRealTimers();
    server.close();
  });

  it("that can't be read are an outage, and neither a refusal nor a pass", async () => {
    isAway = true;
    const verify = verifyByPublishedKeys(url, createSimulatedClock(Date.now()));
    const refused = await verify(await sign("known"), OPTIONS).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ThroughlineError);
    expect(refused).toMatchObject({ code: "sign_in_unavailable", details: { retryAfterMs: 10_000 } });
  });

  it("go on counting for an hour while their server is away, and a token of another key waits for it", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const begun = Date.now();
    const verify = verifyByPublishedKeys(url, { ...systemClock, now: () => Date.now() });
    const [token, other] = await Promise.all([sign("known"), sign("unknown")]);
    expect(await verify(token, OPTIONS)).toMatchObject({ sub: "ann" });
    isAway = true;
    vi.setSystemTime(begun + 30 * MINUTE);
    expect(await verify(token, OPTIONS)).toMatchObject({ sub: "ann" });
    await expect(verify(other, OPTIONS)).rejects.toMatchObject({ code: "sign_in_unavailable" });
    vi.setSystemTime(begun + 61 * MINUTE);
    await expect(verify(token, OPTIONS)).rejects.toMatchObject({ code: "sign_in_unavailable" });
    isAway = false;
    vi.setSystemTime(begun + 62 * MINUTE);
    await expect(verify(other, OPTIONS)).rejects.toMatchObject({ code: "ERR_JWKS_NO_MATCHING_KEY" });
    expect(await verify(token, OPTIONS)).toMatchObject({ sub: "ann" });
  });

  it("are left alone for a while after they could not be read", async () => {
    isAway = true;
    const clock = createSimulatedClock(Date.now());
    const verify = verifyByPublishedKeys(url, clock);
    const token = await sign("known");
    await verify(token, OPTIONS).catch(() => {});
    await verify(token, OPTIONS).catch(() => {});
    expect(asked).toBe(1);
    isAway = false;
    clock.advance(10_000);
    expect(await verify(token, OPTIONS)).toMatchObject({ sub: "ann" });
  });

  it("are not read over http from elsewhere", () => {
    const clock = createSimulatedClock(Date.now());
    expect(() => verifyByPublishedKeys(new URL("http://id.example.com/jwks"), clock)).toThrow("https");
  });
});
