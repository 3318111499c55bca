import { DEFAULT_ROLE, ROLES } from "../accounts/actions.js";
import { DEFAULT_AUDIT_AGE_MS, DEFAULT_AUDIT_KEEP } from "../accounts/audit-log.js";
import { AUDIT_RETENTIONS } from "../accounts/audit-store.js";
import { isLoopbackHost } from "../accounts/callers.js";
import { MIN_SECRET_BYTES } from "../accounts/jwt-caller.js";
import { DEFAULT_MAX_DRIVEN } from "../runs/driver-capacity.js";
import { INSTANCE_ROLES } from "./instance-role.js";
import { setting } from "./setting.js";
import { oneOf, positiveNumber, processCount, someOf, text, urlOf, wholeNumber } from "./value-schemas.js";

/** Settings of how the server runs and stops. */
export const RUNNING_SETTINGS = {
  logLevel: setting({
    env: "THROUGHLINE_LOG_LEVEL",
    flag: "log-level",
    group: "running",
    placeholder: "LEVEL",
    doc: "How much is logged: `silent`, `error`, `warn`, `info` or `debug`.",
    schema: oneOf("silent", "error", "warn", "info", "debug"),
    fallback: "info",
    unset: "`info`; `warn` in a terminal",
  }),
  showGraphErrors: setting({
    env: "THROUGHLINE_SHOW_GRAPH_ERRORS",
    flag: "show-graph-errors",
    group: "running",
    placeholder: "WHEN",
    doc: "Whether people see a graph's own errors, which may carry a key, a prompt or a path: `yes` or `no`. The log always has them.",
    schema: oneOf("yes", "no"),
    unset: "`yes` with dev sign-in, else `no`",
  }),
  drainMs: setting({
    env: "THROUGHLINE_DRAIN_MS",
    flag: "drain-ms",
    group: "running",
    placeholder: "MS",
    doc: "How long runs may go on when the server is asked to stop, before they are handed over.",
    schema: wholeNumber,
    fallback: 10_000,
    unset: "10000; 2000 in a terminal",
  }),
  roles: setting({
    env: "THROUGHLINE_ROLES",
    flag: "roles",
    group: "running",
    placeholder: "ROLES",
    doc: "What this instance does, with commas between: `api` answers requests and streams, `worker` runs graphs, `cron` starts what is due.",
    schema: someOf(...INSTANCE_ROLES),
    fallback: INSTANCE_ROLES,
    unset: "all of them",
  }),
  processes: setting({
    env: "THROUGHLINE_PROCESSES",
    flag: "processes",
    group: "running",
    placeholder: "N",
    doc: "How many processes share the port and the limits of this instance; `auto`: one for each CPU.",
    schema: processCount,
    fallback: 1,
  }),
  maxDriven: setting({
    env: "THROUGHLINE_MAX_DRIVEN_RUNS",
    flag: "max-driven-runs",
    group: "running",
    placeholder: "COUNT",
    doc: "How many runs one process drives at once, of all accounts. A start past that is answered with 429, unless it follows a run of its thread.",
    schema: positiveNumber,
    fallback: DEFAULT_MAX_DRIVEN,
  }),
  leaseMs: setting({
    env: "THROUGHLINE_LEASE_MS",
    flag: "lease-ms",
    group: "running",
    placeholder: "MS",
    doc: "How long a run stays with an instance that is not heard of.",
    schema: positiveNumber,
    fallback: 15_000,
  }),
} as const;

/** Settings of sign-in. */
export const SIGN_IN_SETTINGS = {
  jwtSecret: setting({
    env: "THROUGHLINE_JWT_SECRET",
    group: "sign-in",
    placeholder: "SECRET",
    doc: "Callers sign in with a JWT signed with this shared secret.",
    schema: text.refine(
      (secret) => Buffer.byteLength(secret) >= MIN_SECRET_BYTES,
      `takes at least ${MIN_SECRET_BYTES} bytes`,
    ),
    unset: "dev sign-in, loopback only",
    secret: "whole",
  }),
  jwksUrl: setting({
    env: "THROUGHLINE_JWKS_URL",
    flag: "jwks-url",
    group: "sign-in",
    placeholder: "URL",
    doc: "Callers sign in with a JWT signed with one of the keys published here. Needs issuer and audience.",
    schema: urlOf("https:", "http:").refine(
      (url) => !url.startsWith("http:") || isLoopbackHost(new URL(url).host),
      "takes a URL that begins with https:// (http:// on this machine only)",
    ),
    unset: "dev sign-in, loopback only",
  }),
  jwtIssuer: setting({
    env: "THROUGHLINE_JWT_ISSUER",
    flag: "jwt-issuer",
    group: "sign-in",
    placeholder: "NAME",
    doc: "The `iss` that tokens must have. Required with a JWKS URL.",
    schema: text,
    unset: "any, with a secret",
  }),
  jwtAudience: setting({
    env: "THROUGHLINE_JWT_AUDIENCE",
    flag: "jwt-audience",
    group: "sign-in",
    placeholder: "NAME",
    doc: "The `aud` that tokens must have. Required with a JWKS URL.",
    schema: text,
    unset: "any, with a secret",
  }),
  jwtAccountClaim: setting({
    env: "THROUGHLINE_JWT_ACCOUNT_CLAIM",
    flag: "jwt-account-claim",
    group: "sign-in",
    placeholder: "CLAIM",
    doc: "The claim that names the account.",
    schema: text,
    unset: "`billing_account_id`",
  }),
  jwtSubjectClaim: setting({
    env: "THROUGHLINE_JWT_SUBJECT_CLAIM",
    flag: "jwt-subject-claim",
    group: "sign-in",
    placeholder: "CLAIM",
    doc: "The claim that names the person; `none` where all people of an account share its threads.",
    schema: text,
    unset: "`sub`",
  }),
  jwtKeyClaim: setting({
    env: "THROUGHLINE_JWT_KEY_CLAIM",
    flag: "jwt-key-claim",
    group: "sign-in",
    placeholder: "CLAIM",
    doc: "The claim that names the caller's virtual key.",
    schema: text,
    unset: "`virtual_key_id`",
  }),
  jwtServiceClaim: setting({
    env: "THROUGHLINE_JWT_SERVICE_CLAIM",
    flag: "jwt-service-claim",
    group: "sign-in",
    placeholder: "CLAIM",
    doc: "The claim that, when `true`, makes the caller a trusted service.",
    schema: text,
    unset: "`throughline_service`",
  }),
  jwtRoleClaim: setting({
    env: "THROUGHLINE_JWT_ROLE_CLAIM",
    flag: "jwt-role-claim",
    group: "sign-in",
    placeholder: "CLAIM",
    doc: `The claim that names the caller's role: ${ROLES.join(", ")}. Without the claim: ${DEFAULT_ROLE}.`,
    schema: text,
    unset: "`throughline_role`",
  }),
} as const;

const DAY_MS = 86_400_000;

/** Settings of the audit log's retention. */
export const AUDIT_SETTINGS = {
  auditMaxAgeDays: setting({
    env: "THROUGHLINE_AUDIT_MAX_AGE_DAYS",
    flag: "audit-max-age-days",
    group: "storage",
    placeholder: "DAYS",
    doc: "How old entries of the audit record may become; 0 keeps all.",
    schema: wholeNumber.refine((days) => days <= 36_500, "takes at most 36500 days"),
    fallback: DEFAULT_AUDIT_AGE_MS / DAY_MS,
  }),
  auditKeepAfterDeletion: setting({
    env: "THROUGHLINE_AUDIT_KEEP_AFTER_DELETION",
    flag: "audit-keep-after-deletion",
    group: "storage",
    placeholder: AUDIT_RETENTIONS.join("|"),
    doc: "What the audit record keeps of what was deleted: `receipts` keeps who deleted an account, and of a deleted person or thread who did what and when.",
    schema: oneOf(...AUDIT_RETENTIONS),
    fallback: DEFAULT_AUDIT_KEEP,
  }),
} as const;
