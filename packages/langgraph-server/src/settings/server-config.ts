import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { ThroughlineError } from "@throughline/ai-core";
import { type Backend, readLanggraphJson, selectBackend } from "@throughline/graph-executor";
import type { AuditOptions } from "../accounts/audit-log.js";
import type { BillingOptions } from "../accounts/billing.js";
import type { CallerClaims, JwtTrust } from "../accounts/jwt-caller.js";
import type { AccountLimits } from "../accounts/limits.js";
import type { AttachmentLimits } from "../attachments/media-types.js";
import type { TransferLimits } from "../attachments/transfer-permits.js";
import type { Retention } from "../operations/upkeep.js";
import { type ReadSettings, readSettings, type SettingSources } from "./read-settings.js";
import { SETTINGS, type SettingValues } from "./settings.js";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export type SignInConfig =
  | { readonly kind: "dev" }
  | (JwtTrust & { readonly kind: "jwt"; readonly claims: CallerClaims });

/** All settings by name, and options that combine several of them. */
export interface ServerConfig extends SettingValues {
  readonly backend: Backend;
  readonly signIn: SignInConfig;
  readonly limits: AccountLimits;
  readonly attachmentLimits: AttachmentLimits;
  readonly transferLimits: TransferLimits;
  /** How long an unreferenced file is retained. */
  readonly unnamedMs: number;
  readonly retention: Retention;
  readonly audit: AuditOptions;
  /** The options of LiteLLM, where one is configured. */
  readonly billing: BillingOptions | undefined;
}

/** Reads and checks the environment. Throws `invalid_input` that names the variable; never its value, which may be a secret. */
export function readConfig(
  env: Readonly<Record<string, string | undefined>>,
  sources: Omit<SettingSources, "env"> = {},
): ServerConfig {
  return toServerConfig(readSettings(SETTINGS, { ...sources, env }).values);
}

function toServerConfig(values: SettingValues): ServerConfig {
  assertPoolerHasAddress(values);
  const signIn = signInOf(values);
  return {
    ...values,
    backend: selectBackend({
      LANGGRAPH_DEV_URL: values.devUrl,
      LANGGRAPH_SERVER_URL: values.serverUrl,
      LANGGRAPH_SERVER_API_KEY: values.serverApiKey,
    }),
    signIn,
    limits: {
      maxBodyBytes: values.maxBodyBytes,
      maxContentParts: values.maxContentParts,
      maxConcurrentRuns: values.maxConcurrentRuns,
      maxWatchers: values.maxWatchers,
      maxStartsPerMinute: values.maxStartsPerMinute,
      maxBodyBytesPerMinute: values.maxBodyBytesPerMinute,
      maxDeletionsPerMinute: values.maxDeletionsPerMinute,
      maxEventsPerRun: values.maxEventsPerRun,
      maxBytesPerRun: values.maxBytesPerRun,
    },
    attachmentLimits: {
      maxImageBytes: values.maxImageBytes,
      maxAudioBytes: values.maxAudioBytes,
      maxVideoBytes: values.maxVideoBytes,
      maxDocumentBytes: values.maxDocumentBytes,
      maxAttachmentBytesPerThread: values.maxAttachmentBytesPerThread,
      maxAttachmentBytesPerAccount: values.maxAttachmentBytesPerAccount,
      maxAttachmentBytesPerRun: values.maxAttachmentBytesPerRun,
      maxAttachmentBytesInRuns: values.maxAttachmentBytesInRuns,
    },
    transferLimits: {
      maxTransfersPerAccount: values.maxTransfersPerAccount,
      maxTransfersPerInstance: values.maxTransfersPerInstance,
    },
    unnamedMs: values.unnamedAttachmentHours * HOUR_MS,
    retention: retentionOf(values),
    audit: { keep: values.auditKeepAfterDeletion, maxAgeMs: values.auditMaxAgeDays * DAY_MS },
    billing: billingOf(values, signIn),
  };
}

function assertPoolerHasAddress({ databaseUrl, databaseDirectUrl }: SettingValues): void {
  if (databaseDirectUrl === undefined || databaseUrl !== undefined) return;
  const { databaseUrl: pooled, databaseDirectUrl: direct } = SETTINGS;
  throw new ThroughlineError(
    "invalid_input",
    `${direct.env} is set and ${pooled.env} is not; without a pooler set ${pooled.env} only.`,
    { details: { field: direct.env } },
  );
}

function billingOf(values: SettingValues, signIn: SignInConfig): BillingOptions | undefined {
  const { litellmBaseUrl: baseUrl, litellmApiKey: serviceKey, makeKeys, systemAccounts } = values;
  const { keySecrets, reconcileSeconds, unresolvedCalls } = values;
  if (baseUrl === undefined) return undefined;
  if (serviceKey === undefined)
    throw missing("litellmApiKey", "litellmBaseUrl", "prices and spend logs are read with it");
  if (makeKeys === "yes" && keySecrets === undefined)
    throw missing("keySecrets", "makeKeys", "keys that are made are kept sealed");
  const named = new Set(systemAccounts);
  return {
    baseUrl,
    serviceKey,
    virtualKeys: values.litellmVirtualKeys,
    keySecrets,
    makesKeys: makeKeys === "yes",
    // With dev sign-in there is one person, who has one key.
    isSystemAccount: (account) =>
      named.has(account) || (systemAccounts === undefined && signIn.kind === "dev"),
    spendLog: values.spendLog,
    reconcileEveryMs: reconcileSeconds > 0 ? reconcileSeconds * 1_000 : undefined,
    policyOf: (account) => unresolvedCalls?.get(account) ?? unresolvedCalls?.get("") ?? "list",
  };
}

function missing(name: keyof typeof SETTINGS, because: keyof typeof SETTINGS, why: string): ThroughlineError {
  const { env } = SETTINGS[name];
  return new ThroughlineError(
    "invalid_input",
    `${env} is missing. With ${SETTINGS[because].env} it must be set: ${why}.`,
    {
      details: { field: env },
    },
  );
}

function retentionOf(values: SettingValues): Retention {
  const { retentionMaxEntries: maxEntries, retentionMaxBytes: maxBytes, retentionMaxAgeDays: days } = values;
  const { compactAfterDays } = values;
  const { retentionCheckpoints: keepNewest, retentionCheckpointDays: youngDays } = values;
  const checkpoints = { keepNewest, ...(youngDays > 0 && { keepYoungerMs: youngDays * DAY_MS }) };
  return {
    ...(maxEntries > 0 && { maxEntries }),
    ...(maxBytes > 0 && { maxBytes }),
    ...(days > 0 && { maxAgeMs: days * DAY_MS }),
    ...(compactAfterDays > 0 && { compactAfterMs: compactAfterDays * DAY_MS }),
    ...(keepNewest > 0 && { checkpoints }),
    ...(values.retentionReceiptDays > 0 && { receiptAgeMs: values.retentionReceiptDays * DAY_MS }),
  };
}

function signInOf(values: SettingValues): SignInConfig {
  const { jwtSecret: secret, jwksUrl } = values;
  if (secret !== undefined && jwksUrl !== undefined) {
    const { jwtSecret, jwksUrl: url } = SETTINGS;
    throw new ThroughlineError("invalid_input", `${jwtSecret.env} and ${url.env} are both set; unset one.`, {
      details: { field: jwtSecret.env },
    });
  }
  if (secret === undefined && jwksUrl === undefined) return { kind: "dev" };
  const { jwtAccountClaim, jwtSubjectClaim, jwtKeyClaim, jwtServiceClaim, jwtRoleClaim } = values;
  return {
    kind: "jwt",
    ...trustOf(values),
    claims: {
      ...(jwtAccountClaim !== undefined && { account: jwtAccountClaim }),
      ...(jwtSubjectClaim !== undefined && { subject: jwtSubjectClaim === "none" ? null : jwtSubjectClaim }),
      ...(jwtKeyClaim !== undefined && { virtualKeyId: jwtKeyClaim }),
      ...(jwtServiceClaim !== undefined && { service: jwtServiceClaim }),
      ...(jwtRoleClaim !== undefined && { role: jwtRoleClaim }),
    },
  };
}

function trustOf({
  jwtSecret: secret,
  jwksUrl,
  jwtIssuer: issuer,
  jwtAudience: audience,
}: SettingValues): JwtTrust {
  if (jwksUrl === undefined) {
    return {
      keys: { secret: secret ?? "" },
      ...(issuer !== undefined && { issuer }),
      ...(audience !== undefined && { audience }),
    };
  }
  if (issuer === undefined || audience === undefined) {
    const name = issuer === undefined ? "jwtIssuer" : "jwtAudience";
    throw missing(name, "jwksUrl", "else a token for another application passes");
  }
  return { keys: { jwksUrl: new URL(jwksUrl) }, issuer, audience };
}

/** The sources of settings of a program that a person starts. */
export interface StartContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Whether a person watches in a terminal. */
  readonly isAttended: boolean;
  /** Flags that are settings, by the setting's name. */
  readonly flags: Readonly<Record<string, string>>;
  /** Defaults of this way to start, by variable. */
  readonly defaults: Readonly<Record<string, string>>;
}

export interface StartConfig {
  readonly settings: ReadSettings<typeof SETTINGS>;
  readonly config: ServerConfig;
  /** The `langgraph.json` to serve: the named one, else that of the working folder. */
  readonly project: string | undefined;
  /**
   * The `langgraph.json` that describes the graphs of a LangGraph server: the named one, or that of the working folder. One
   * that is only a default of this way to start may be of other graphs, and describes none.
   */
  readonly describes: string | undefined;
}

/** Reads the settings that `runServer` uses. Throws `invalid_input` where one can't be read. */
export function readStartConfig({ env, cwd, isAttended, flags, defaults }: StartContext): StartConfig {
  const { env: variable } = SETTINGS.project;
  const named = flags.project ?? env[variable] ?? "";
  const project = projectOf(named || (defaults[variable] ?? ""), cwd);
  // A person at a terminal expects the program to end soon after Ctrl-C.
  const attended = { [SETTINGS.logLevel.env]: "warn", [SETTINGS.drainMs.env]: "2000" };
  const sources: SettingSources = {
    env,
    flags,
    file: project === undefined ? {} : readLanggraphJson(project).env,
    defaults: { ...(isAttended && attended), ...defaults },
  };
  const settings = readSettings(SETTINGS, sources);
  return { settings, config: toServerConfig(settings.values), project, describes: projectOf(named, cwd) };
}

function projectOf(named: string, cwd: string): string | undefined {
  if (named !== "") return resolve(cwd, named);
  const here = resolve(cwd, "langgraph.json");
  return existsSync(here) ? here : undefined;
}
