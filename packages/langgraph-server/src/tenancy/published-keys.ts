import { type Clock, ThroughlineError } from "@throughline/ai-core";
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  errors,
  type JWKSCacheInput,
  type JWTPayload,
  type JWTVerifyOptions,
  jwksCache,
  jwtVerify,
} from "jose";
import { isLoopbackHost } from "./loopback.js";

/** How long keys that were read once are trusted while their server is away. */
const GRACE_MS = 3_600_000;
/** After a failure the key server is left alone for so long: callers must not wait for its timeout one after the other. */
const RETRY_MS = 10_000;
/** What `jose` throws when the keys can't be read; its other errors are about the token. */
const OUTAGES: readonly string[] = [errors.JOSEError.code, errors.JWKSTimeout.code, errors.JWKSInvalid.code];

export type VerifyToken = (token: string, options: JWTVerifyOptions) => Promise<JWTPayload>;

/**
 * Verifies against the keys that an issuer publishes. While these can't be read, keys of the last hour go on counting; a
 * token that needs another key is answered with `sign_in_unavailable`, because a 401 would sign its owner out.
 */
export function verifyByPublishedKeys(url: URL, clock: Clock): VerifyToken {
  if (url.protocol !== "https:" && !isLoopbackHost(url.host)) {
    throw new ThroughlineError(
      "invalid_input",
      "The JWKS URL must begin with https: anyone who could change its answer on the way could sign in as any person.",
    );
  }
  const known: JWKSCacheInput = {};
  const published = createRemoteJWKSet(url, { [jwksCache]: known });
  let awayUntil = 0;

  async function verifyByKnownKeys(token: string, options: JWTVerifyOptions): Promise<JWTPayload> {
    if (known.jwks === undefined || known.uat === undefined || clock.now() - known.uat > GRACE_MS)
      throw away();
    try {
      return (await jwtVerify(token, createLocalJWKSet(known.jwks), options)).payload;
    } catch (error) {
      throw error instanceof errors.JWKSNoMatchingKey ? away() : error;
    }
  }

  return async (token, options) => {
    if (clock.now() < awayUntil) return verifyByKnownKeys(token, options);
    try {
      return (await jwtVerify(token, published, options)).payload;
    } catch (error) {
      if (error instanceof errors.JOSEError && !OUTAGES.includes(error.code)) throw error;
      awayUntil = clock.now() + RETRY_MS;
      return verifyByKnownKeys(token, options);
    }
  };
}

function away(): ThroughlineError {
  return new ThroughlineError(
    "sign_in_unavailable",
    "The keys that tokens are signed with can't be read now.",
    {
      details: { retryAfterMs: RETRY_MS },
    },
  );
}
