import { accountIdSchema, invalidInput, subjectSchema, ThroughlineError } from "@throughline/ai-core";
import { DEFAULT_ROLE, ROLES, type Role, roleSchema } from "../policy/role.js";
import type { CallerResolver } from "./caller-resolver.js";
import { isLoopbackAddress, isLoopbackHost } from "./loopback.js";

const DEV_ACCOUNT = "dev";
const DEV_VIRTUAL_KEY_ID = "dev";
export const DEV_ACCOUNT_HEADER = "x-throughline-account";
export const DEV_SUBJECT_HEADER = "x-throughline-subject";
export const DEV_ROLE_HEADER = "x-throughline-role";

/** What proxies add: a request that has one of them may come from anywhere, whatever its address says. */
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
  /** Pages that may ask beside those of this machine. */
  readonly origins?: readonly string[];
}

/**
 * Takes a request for the account that its headers name, without a proof. It answers programs and pages of this machine
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
  // A request that a browser sends without asking first, an image say, has no Origin.
  if (origin === null && headers.get("sec-fetch-site") === "cross-site") return "another site's page asks";
  return undefined;
}

function isOwnOrigin(origin: string, origins: readonly string[]): boolean {
  return origins.includes(origin) || (URL.canParse(origin) && isLoopbackHost(new URL(origin).host));
}
