import {
  accountIdSchema,
  type Clock,
  subjectSchema,
  systemClock,
  ThroughlineError,
} from "@throughline/ai-core";
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
import { z } from "zod";
import { roleSchema } from "./actions.js";
import { type CallerResolver, isLoopbackHost } from "./callers.js";

/** Names of the claims that identify the caller. */
export interface CallerClaims {
  /** Default `billing_account_id`. */
  readonly account?: string;
  /** Default `sub`. Set to `null` where all people of an account share its threads. */
  readonly subject?: string | null;
  /** Default `virtual_key_id`; without the claim, the account's own name. */
  readonly virtualKeyId?: string;
  /** Default `throughline_service`; `true` there makes a trusted service. */
  readonly service?: string;
  /** Default `throughline_role`; without the claim the role is `operator`. */
  readonly role?: string;
}

export type JwtCallerOptions = JwtTrust & {
  readonly claims?: CallerClaims;
  readonly clock?: Clock;
};

/**
 * Which tokens count. An identity provider signs for many applications with the same keys, so a token must name its issuer
 * and be meant for us; a shared secret is ours alone.
 */
export type JwtTrust =
  /** HS256, HS384, HS512. */
  | { readonly keys: { readonly secret: string }; readonly issuer?: string; readonly audience?: string }
  | { readonly keys: { readonly jwksUrl: URL }; readonly issuer: string; readonly audience: string };

// Each kind of key has its own list: one that served both would let a public key be used as a secret.
const SHARED = ["HS256", "HS384", "HS512"];
const PUBLIC = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"];
/** RFC 7518 requires a key as long as the hash. */
export const MIN_SECRET_BYTES = 32;

const claimsSchema = z.object({
  account: accountIdSchema,
  subject: subjectSchema.optional(),
  virtualKeyId: z.string().min(1).max(256),
  service: z.boolean().optional(),
  role: roleSchema.optional(),
  exp: z.number(),
});

/** A signed token in `Authorization: Bearer`. A token that never expires is refused: a stream would never end with it. */
export function jwtCaller(options: JwtCallerOptions): CallerResolver {
  const { issuer, audience, claims = {}, clock = systemClock } = options;
  const verify = verifier(options.keys, clock);
  const names = {
    account: claims.account ?? "billing_account_id",
    subject: claims.subject === null ? undefined : (claims.subject ?? "sub"),
    virtualKeyId: claims.virtualKeyId ?? "virtual_key_id",
    service: claims.service ?? "throughline_service",
    role: claims.role ?? "throughline_role",
  };

  return {
    isSafeInPublic: true,
    async resolve({ headers }) {
      const token = bearerToken(headers.get("authorization"));
      const payload = await verify(token, {
        ...(issuer !== undefined && { issuer }),
        ...(audience !== undefined && { audience }),
        requiredClaims: ["exp"],
        currentDate: new Date(clock.now()),
      }).catch((error: unknown) => {
        if (error instanceof ThroughlineError) throw error;
        // The reason would help a forger.
        throw new ThroughlineError("unauthorized", "Invalid or expired token.");
      });
      const read = claimsSchema.safeParse({
        account: payload[names.account],
        subject: names.subject === undefined ? undefined : payload[names.subject],
        virtualKeyId: payload[names.virtualKeyId] ?? payload[names.account],
        service: payload[names.service],
        role: payload[names.role],
        exp: payload.exp,
      });
      if (!read.success) throw badClaim(read.error, names);
      const { account, subject, virtualKeyId, service, role, exp } = read.data;
      return {
        billingAccountId: account,
        ...(subject !== undefined && { subject }),
        virtualKeyId,
        expiresAt: exp * 1_000,
        ...(role !== undefined && { role }),
        ...(service === true && { isTrustedService: true }),
      };
    },
  };
}

function verifier(keys: JwtCallerOptions["keys"], clock: Clock): VerifyToken {
  if ("jwksUrl" in keys) {
    const verify = verifyByPublishedKeys(keys.jwksUrl, clock);
    return (token, options) => verify(token, { ...options, algorithms: PUBLIC });
  }
  const secret = new TextEncoder().encode(keys.secret);
  if (secret.byteLength < MIN_SECRET_BYTES) {
    throw new ThroughlineError(
      "invalid_input",
      `The JWT secret is shorter than ${MIN_SECRET_BYTES} bytes, so it could be guessed. Use a longer one.`,
    );
  }
  return async (token, options) =>
    (await jwtVerify(token, secret, { ...options, algorithms: SHARED })).payload;
}

function bearerToken(header: string | null): string {
  const [, token] = /^Bearer ([A-Za-z0-9._~+/=-]+)$/i.exec(header?.trim() ?? "") ?? [];
  if (token !== undefined) return token;
  throw new ThroughlineError("unauthorized", "Send a token as Authorization: Bearer <token>.");
}

function badClaim(error: z.ZodError, names: Readonly<Record<string, string | undefined>>): ThroughlineError {
  const field = String(error.issues[0]?.path[0] ?? "exp");
  const claim = names[field] ?? field;
  // The likeliest mistake of a new set-up: the issuer names the account by another claim.
  const hint =
    field === "account" ? " It names the account; THROUGHLINE_JWT_ACCOUNT_CLAIM sets which claim does." : "";
  return new ThroughlineError("unauthorized", `The token's claim ${claim} is missing or not usable.${hint}`, {
    details: { claim },
  });
}

/** How long cached keys are trusted during an outage of their server. */
const GRACE_MS = 3_600_000;
/** After a failure the key server is left alone for so long: callers must not wait for its timeout one after the other. */
const RETRY_MS = 10_000;
/** Codes of `jose`'s errors for keys that can't be read; its other errors are about the token. */
const OUTAGES: readonly string[] = [errors.JOSEError.code, errors.JWKSTimeout.code, errors.JWKSInvalid.code];

type VerifyToken = (token: string, options: JWTVerifyOptions) => Promise<JWTPayload>;

/**
 * Verifies against the keys that an issuer publishes. While these can't be read, keys of the last hour stay valid; a
 * token that needs another key is refused with `sign_in_unavailable`, because a 401 would sign its owner out.
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
