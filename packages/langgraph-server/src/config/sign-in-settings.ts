import { DEFAULT_ROLE, ROLES } from "../policy/role.js";
import { MIN_SECRET_BYTES } from "../tenancy/jwt-caller.js";
import { isLoopbackHost } from "../tenancy/loopback.js";
import { setting } from "./setting.js";
import { text, urlOf } from "./value-schemas.js";

/** Who may ask. */
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
