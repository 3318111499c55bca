import { accountIdSchema } from "@throughline/ai-core";
import { z } from "zod";
import { type Identity, identityLabel } from "../data/identity";

/** Content of the session cookie. It never leaves the server: a page gets the label only. */
export type Session =
  | { readonly kind: "account"; readonly account: string }
  | { readonly kind: "token"; readonly token: string };

export const SESSION_COOKIE = "throughline_session";

/** Parses the cookie. One of the other kind of sign-in is ignored: a picked account must not pass where a token is required. */
export function readSession(cookie: string | undefined, signIn: SignIn): Session | undefined {
  const split = cookie?.indexOf(":") ?? -1;
  if (cookie === undefined || split < 0) return undefined;
  const kind = cookie.slice(0, split);
  const value = cookie.slice(split + 1);
  if (kind !== signIn || value === "") return undefined;
  if (signIn === "token") return { kind: "token", token: value };
  return accountIdSchema.safeParse(value).success ? { kind: "account", account: value } : undefined;
}

export function writeSession(session: Session): string {
  return session.kind === "account" ? `account:${session.account}` : `token:${session.token}`;
}

/** Headers that identify the caller to the service. */
export function identityHeaders(session: Session): Record<string, string> {
  return session.kind === "account"
    ? { "x-throughline-account": session.account }
    : { authorization: `Bearer ${session.token}` };
}

/** Identity that the session claims. Not verified: the service does that. */
export function identityOf(session: Session): Identity {
  if (session.kind === "account") return { account: session.account };
  const { billing_account_id: account = "account", sub } = claimsOf(session.token);
  return { account: String(account), ...(sub !== undefined && { subject: String(sub) }) };
}

/** Label that a page may show; it also separates one person's stored data from another's. */
export function labelOf(session: Session): string {
  return identityLabel(identityOf(session));
}

/** Expiry in seconds since the Unix epoch. */
export function expiryOf(session: Session): number | undefined {
  const exp = session.kind === "token" ? claimsOf(session.token).exp : undefined;
  return typeof exp === "number" ? exp : undefined;
}

function claimsOf(token: string): Record<string, unknown> {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8"));
    return typeof claims === "object" && claims !== null ? { ...claims } : {};
  } catch {
    return {};
  }
}

/** `account`: the person at this machine picks a name, for development; `token`: the operator's JWT. */
export type SignIn = "account" | "token";

export interface Settings {
  /** The service's URL, as this process reaches it. Never sent to a browser. */
  readonly serviceUrl: URL;
  readonly signIn: SignIn;
}

const settingsSchema = z.object({
  THROUGHLINE_URL: z.url({ protocol: /^https?$/ }).default("http://127.0.0.1:8000"),
  THROUGHLINE_CONSOLE_SIGN_IN: z.enum(["account", "token"]).default("token"),
});

/** Reads the settings at each request, not at import: a build must not freeze the environment of its machine. */
export function readSettings(env: NodeJS.ProcessEnv = process.env): Settings {
  const read = settingsSchema.safeParse({
    THROUGHLINE_URL: env.THROUGHLINE_URL || undefined,
    THROUGHLINE_CONSOLE_SIGN_IN: env.THROUGHLINE_CONSOLE_SIGN_IN || undefined,
  });
  if (!read.success) {
    const [issue] = read.error.issues;
    throw new Error(`${issue?.path.join(".")}: ${issue?.message}`);
  }
  return {
    serviceUrl: new URL(read.data.THROUGHLINE_URL),
    signIn: read.data.THROUGHLINE_CONSOLE_SIGN_IN,
  };
}
