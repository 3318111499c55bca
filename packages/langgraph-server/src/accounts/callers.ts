import { isIP, isIPv4 } from "node:net";
import {
  accountIdSchema,
  type Caller,
  invalidInput,
  subjectSchema,
  ThroughlineError,
} from "@throughline/ai-core";
import { z } from "zod";
import { DEFAULT_ROLE, ROLES, type Role, roleSchema } from "./actions.js";
import type { Actor } from "./policy.js";

/** The caller by its credentials. The trace id is the request's, so it is not here. */
export interface Credentials {
  readonly billingAccountId: string;
  /** Present for a person inside the account: their threads are theirs alone. */
  readonly subject?: string;
  readonly virtualKeyId: string;
  /** The caller's role in the account. Default `operator`. */
  readonly role?: Role;
  /** Milliseconds since the Unix epoch. A stream that is open then ends then. */
  readonly expiresAt?: number;
  /** A backend of ours that may start runs for any account through `POST /runs`. */
  readonly isTrustedService?: boolean;
}

export interface Ingress {
  readonly headers: Headers;
  readonly url: URL;
  /** `undefined` where the runtime does not report it. */
  readonly remoteAddress: string | undefined;
}

/**
 * Turns a request into a caller, or throws `unauthorized`. Nothing but this decides who the caller is: no account, subject or
 * key is ever read from a body.
 */
export interface CallerResolver {
  /** Safe on an address that others can reach; `false` lets the server start on loopback only. */
  readonly isSafeInPublic: boolean;
  resolve(ingress: Ingress): Promise<Credentials>;
}

export function toCaller(credentials: Credentials, traceId: string): Caller {
  const { billingAccountId, subject, virtualKeyId } = credentials;
  return { billingAccountId, ...(subject !== undefined && { subject }), virtualKeyId, traceId };
}

/** The caller as the policy's actor. */
export function actorOf({ role = DEFAULT_ROLE, isTrustedService }: Credentials): Actor {
  return { role, isTrustedService };
}

const credentialsSchema = z.object({
  billingAccountId: accountIdSchema,
  subject: subjectSchema.optional(),
  virtualKeyId: z.string().min(1).max(256),
  expiresAt: z.number().optional(),
  isTrustedService: z.boolean().optional(),
  role: z.unknown().optional(),
});

/** Your own sign-in. What it returns is checked; returning `undefined` means that the caller is not signed in. */
export function customCaller(
  resolve: (ingress: Ingress) => Promise<Credentials | undefined> | Credentials | undefined,
): CallerResolver {
  return {
    isSafeInPublic: true,
    async resolve(ingress) {
      const found = await resolve(ingress);
      if (found === undefined) throw new ThroughlineError("unauthorized", "Not signed in.");
      const read = credentialsSchema.safeParse(found);
      // An invalid result is a mistake in that function, so its details are not sent to the caller.
      if (!read.success) throw new TypeError(`The caller resolver gave ${z.prettifyError(read.error)}`);
      const { billingAccountId, subject, virtualKeyId, expiresAt, isTrustedService } = read.data;
      // Whatever else is passed on from an identity provider must not become the default role.
      const role = roleSchema.optional().safeParse(read.data.role);
      if (!role.success) throw new ThroughlineError("unauthorized", "The caller's role is unknown.");
      return {
        billingAccountId,
        virtualKeyId,
        ...(subject !== undefined && { subject }),
        ...(expiresAt !== undefined && { expiresAt }),
        ...(role.data !== undefined && { role: role.data }),
        ...(isTrustedService !== undefined && { isTrustedService }),
      };
    },
  };
}

const DEV_ACCOUNT = "dev";
const DEV_VIRTUAL_KEY_ID = "dev";
export const DEV_ACCOUNT_HEADER = "x-throughline-account";
export const DEV_SUBJECT_HEADER = "x-throughline-subject";
export const DEV_ROLE_HEADER = "x-throughline-role";

/** Headers that proxies add: a request with one of them may come from anywhere, regardless of its address. */
const FORWARDING_HEADERS = [
  "forwarded",
  "via",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-forwarded-server",
  "x-real-ip",
];

export interface DevCallerOptions {
  /** Origins allowed in addition to those of this machine. */
  readonly origins?: readonly string[];
}

/**
 * Accepts a request for the account that its headers name, without a proof. It accepts programs and pages of this machine
 * alone: a page on the internet can let a browser ask from here, and can point a name of its own at 127.0.0.1.
 */
export function devCaller({ origins = [] }: DevCallerOptions = {}): CallerResolver {
  return {
    isSafeInPublic: false,
    async resolve({ headers, url, remoteAddress }) {
      const problem = foreignnessOf(headers, url, remoteAddress, origins);
      if (problem !== undefined) {
        throw new ThroughlineError(
          "unauthorized",
          `Dev sign-in answers this machine only, and ${problem}. Ask as localhost, or set up JWT sign-in.`,
        );
      }
      const account = accountIdSchema.safeParse(headers.get(DEV_ACCOUNT_HEADER) ?? DEV_ACCOUNT);
      if (!account.success) throw invalidInput(account.error, DEV_ACCOUNT_HEADER);
      const subject = subjectSchema.optional().safeParse(headers.get(DEV_SUBJECT_HEADER) ?? undefined);
      if (!subject.success) throw invalidInput(subject.error, DEV_SUBJECT_HEADER);
      return {
        billingAccountId: account.data,
        ...(subject.data !== undefined && { subject: subject.data }),
        virtualKeyId: DEV_VIRTUAL_KEY_ID,
        role: roleOf(headers.get(DEV_ROLE_HEADER), subject.data),
      };
    },
  };
}

/** Without a subject it is the person whose machine this is, and who could name any role. */
function roleOf(named: string | null, subject: string | undefined): Role {
  if (named === null) return subject === undefined ? "admin" : DEFAULT_ROLE;
  const role = roleSchema.safeParse(named);
  if (role.success) return role.data;
  throw new ThroughlineError("unauthorized", `${DEV_ROLE_HEADER}: takes one of ${ROLES.join(", ")}`);
}

function foreignnessOf(
  headers: Headers,
  url: URL,
  remoteAddress: string | undefined,
  origins: readonly string[],
): string | undefined {
  if (remoteAddress !== undefined && !isLoopbackAddress(remoteAddress)) return "this is another one";
  if (!isLoopbackHost(headers.get("host") ?? url.host)) return "the Host is not this machine's";
  const forwarding = FORWARDING_HEADERS.find((name) => headers.has(name));
  if (forwarding !== undefined) return `a proxy sent this request on: it has ${forwarding}`;
  const origin = headers.get("origin");
  if (origin !== null && !isOwnOrigin(origin, origins)) return "the Origin is not this machine's";
  // A request that a browser sends without a preflight, for an image for example, has no Origin.
  if (origin === null && headers.get("sec-fetch-site") === "cross-site") return "another site's page asks";
  return undefined;
}

function isOwnOrigin(origin: string, origins: readonly string[]): boolean {
  return origins.includes(origin) || (URL.canParse(origin) && isLoopbackHost(new URL(origin).host));
}

/** An address that only this machine reaches. `0.0.0.0` and `::` are every address it has, so they are not. */
function isLoopbackAddress(address: string): boolean {
  const bare = address.startsWith("::ffff:") ? address.slice("::ffff:".length) : address;
  if (isIPv4(bare)) return bare.startsWith("127.");
  return bare === "::1";
}

/** A host as written in a URL, a `Host` header or a setting, port included or not. */
export function isLoopbackHost(host: string): boolean {
  if (isIP(host) !== 0) return isLoopbackAddress(host);
  const [, bracketed] = /^\[(.*)\](?::\d+)?$/.exec(host) ?? [];
  if (bracketed !== undefined) return isLoopbackAddress(bracketed);
  const name = host.replace(/:\d+$/, "").toLowerCase();
  return name === "localhost" || name.endsWith(".localhost") || isLoopbackAddress(name);
}

/** Refuses to listen beyond loopback without sign-in. */
export function guardAddress(resolver: CallerResolver, host: string): void {
  if (resolver.isSafeInPublic || isLoopbackHost(host)) return;
  throw new ThroughlineError(
    "invalid_input",
    `Sign-in is off, and ${host} can be reached from other machines. Set THROUGHLINE_JWT_SECRET or ` +
      "THROUGHLINE_JWKS_URL so that callers must sign in, or set THROUGHLINE_HOST=127.0.0.1.",
  );
}
