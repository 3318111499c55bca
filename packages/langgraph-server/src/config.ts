import { ThroughlineError } from "@throughline/ai-core";
import { type Backend, selectBackend } from "@throughline/graph-executor";
import { z } from "zod";
import { type AccountLimits, DEFAULT_LIMITS } from "./tenancy/account-limits.js";
import { type CallerClaims, MIN_SECRET_BYTES } from "./tenancy/jwt-caller.js";

export type SignInConfig =
  | { readonly kind: "dev" }
  | {
      readonly kind: "jwt";
      readonly keys: { readonly secret: string } | { readonly jwksUrl: URL };
      readonly issuer?: string;
      readonly audience?: string;
      readonly claims: CallerClaims;
    };

export interface ServerConfig {
  readonly host: string;
  /** `undefined`: 8000, or the next free one. 0: any free one. */
  readonly port: number | undefined;
  /** `undefined`: an embedded PostgreSQL in `dataDir`. */
  readonly databaseUrl: string | undefined;
  readonly redisUrl: string | undefined;
  readonly dataDir: string | undefined;
  readonly backend: Backend;
  readonly signIn: SignInConfig;
  readonly corsOrigins: readonly string[];
  readonly limits: AccountLimits;
  readonly logLevel: "silent" | "error" | "warn" | "info" | "debug";
  readonly defaultModel: string | undefined;
  readonly drainMs: number;
}

const text = z.string().min(1);
const count = z
  .string()
  .regex(/^\d{1,12}$/, "takes a whole number")
  .transform(Number);
const url = (protocols: readonly string[]) =>
  text.refine(
    (value) => URL.canParse(value) && protocols.includes(new URL(value).protocol),
    `takes a URL that begins with ${protocols.map((protocol) => `${protocol}//`).join(" or ")}`,
  );

const variables = {
  PORT: count.refine((port) => port < 65_536, "takes a number below 65536").optional(),
  LANGGRAPH_DATABASE_URL: url(["postgres:", "postgresql:"]).optional(),
  REDIS_URL: url(["redis:", "rediss:"]).optional(),
  // Not HOST, which some shells set to the machine's name.
  THROUGHLINE_HOST: text.optional(),
  THROUGHLINE_DATA_DIR: text.optional(),
  THROUGHLINE_JWT_SECRET: text
    .refine(
      (secret) => Buffer.byteLength(secret) >= MIN_SECRET_BYTES,
      `takes at least ${MIN_SECRET_BYTES} bytes`,
    )
    .optional(),
  THROUGHLINE_JWKS_URL: url(["https:", "http:"]).optional(),
  THROUGHLINE_JWT_ISSUER: text.optional(),
  THROUGHLINE_JWT_AUDIENCE: text.optional(),
  THROUGHLINE_JWT_ACCOUNT_CLAIM: text.optional(),
  /** `none` where all people of an account share its threads. */
  THROUGHLINE_JWT_SUBJECT_CLAIM: text.optional(),
  THROUGHLINE_JWT_KEY_CLAIM: text.optional(),
  THROUGHLINE_JWT_SERVICE_CLAIM: text.optional(),
  THROUGHLINE_CORS_ORIGINS: text.optional(),
  THROUGHLINE_MAX_BODY_BYTES: count.optional(),
  THROUGHLINE_MAX_CONTENT_PARTS: count.optional(),
  THROUGHLINE_MAX_CONCURRENT_RUNS: count.optional(),
  THROUGHLINE_MAX_WATCHERS: count.optional(),
  THROUGHLINE_LOG_LEVEL: z.enum(["silent", "error", "warn", "info", "debug"]).optional(),
  THROUGHLINE_DEFAULT_MODEL: text.optional(),
  THROUGHLINE_DRAIN_MS: count.optional(),
} as const;
const environmentSchema = z.object(variables);

/** Read where models are made, not here. */
const READ_ELSEWHERE = ["THROUGHLINE_OFFLINE_PACE_MS"];

/** The environment, checked. Throws `invalid_input` that names the variable; never with its value, which may be a secret. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): ServerConfig {
  for (const name of Object.keys(env)) {
    if (!name.startsWith("THROUGHLINE_") || name in variables || READ_ELSEWHERE.includes(name)) continue;
    const known = Object.keys(variables).filter((variable) => variable.startsWith("THROUGHLINE_"));
    throw refused(name, `is not a setting. There is: ${[...known, ...READ_ELSEWHERE].join(", ")}`);
  }
  // An empty variable is one that was unset the shell's way.
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
  const parsed = environmentSchema.safeParse(set);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw refused(String(issue?.path[0] ?? "environment"), issue?.message ?? "is not valid");
  }
  const values = parsed.data;
  return {
    host: values.THROUGHLINE_HOST ?? "127.0.0.1",
    port: values.PORT,
    databaseUrl: values.LANGGRAPH_DATABASE_URL,
    redisUrl: values.REDIS_URL,
    dataDir: values.THROUGHLINE_DATA_DIR,
    backend: selectBackend(set),
    signIn: signInOf(values),
    corsOrigins: originsOf(values.THROUGHLINE_CORS_ORIGINS),
    limits: {
      maxBodyBytes: values.THROUGHLINE_MAX_BODY_BYTES ?? DEFAULT_LIMITS.maxBodyBytes,
      maxContentParts: values.THROUGHLINE_MAX_CONTENT_PARTS ?? DEFAULT_LIMITS.maxContentParts,
      maxConcurrentRuns: values.THROUGHLINE_MAX_CONCURRENT_RUNS ?? DEFAULT_LIMITS.maxConcurrentRuns,
      maxWatchers: values.THROUGHLINE_MAX_WATCHERS ?? DEFAULT_LIMITS.maxWatchers,
    },
    logLevel: values.THROUGHLINE_LOG_LEVEL ?? "info",
    defaultModel: values.THROUGHLINE_DEFAULT_MODEL,
    drainMs: values.THROUGHLINE_DRAIN_MS ?? 10_000,
  };
}

type Values = z.infer<typeof environmentSchema>;

function signInOf(values: Values): SignInConfig {
  const { THROUGHLINE_JWT_SECRET: secret, THROUGHLINE_JWKS_URL: jwksUrl } = values;
  if (secret !== undefined && jwksUrl !== undefined) {
    throw refused("THROUGHLINE_JWT_SECRET", "and THROUGHLINE_JWKS_URL are both set; unset one");
  }
  if (secret === undefined && jwksUrl === undefined) return { kind: "dev" };
  const {
    THROUGHLINE_JWT_ISSUER: issuer,
    THROUGHLINE_JWT_AUDIENCE: audience,
    THROUGHLINE_JWT_ACCOUNT_CLAIM: account,
    THROUGHLINE_JWT_SUBJECT_CLAIM: subject,
    THROUGHLINE_JWT_KEY_CLAIM: virtualKeyId,
    THROUGHLINE_JWT_SERVICE_CLAIM: service,
  } = values;
  return {
    kind: "jwt",
    keys: secret === undefined ? { jwksUrl: new URL(jwksUrl ?? "") } : { secret },
    ...(issuer !== undefined && { issuer }),
    ...(audience !== undefined && { audience }),
    claims: {
      ...(account !== undefined && { account }),
      ...(subject !== undefined && { subject: subject === "none" ? null : subject }),
      ...(virtualKeyId !== undefined && { virtualKeyId }),
      ...(service !== undefined && { service }),
    },
  };
}

function originsOf(list: string | undefined): string[] {
  const origins = (list ?? "")
    .split(",")
    .map((origin) => origin.trim())
    .filter((origin) => origin !== "");
  for (const origin of origins) {
    if (origin === "*" || (URL.canParse(origin) && new URL(origin).origin === origin)) continue;
    throw refused(
      "THROUGHLINE_CORS_ORIGINS",
      "takes origins as https://app.example.com, with commas between",
    );
  }
  return origins;
}

function refused(name: string, why: string): ThroughlineError {
  return new ThroughlineError("invalid_input", `${name} ${why}.`, { details: { field: name } });
}
