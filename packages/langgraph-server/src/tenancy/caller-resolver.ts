import type { Caller } from "@throughline/ai-core";
import type { Actor } from "../policy/may.js";
import { DEFAULT_ROLE, type Role } from "../policy/role.js";

/** Who asks, as its credentials say. The trace id is the request's, so it is not here. */
export interface Credentials {
  readonly billingAccountId: string;
  /** Present for a person inside the account: their threads are theirs alone. */
  readonly subject?: string;
  readonly virtualKeyId: string;
  /** What they are inside the account. Default `operator`. */
  readonly role?: Role;
  /** Milliseconds since the Unix epoch. A stream that is open then ends then. */
  readonly expiresAt?: number;
  /** A backend of ours that may start runs for any account through `POST /runs`. */
  readonly isTrustedService?: boolean;
}

export interface Ingress {
  readonly headers: Headers;
  readonly url: URL;
  /** `undefined` where the runtime does not tell. */
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

/** As the policy sees them. */
export function actorOf({ role = DEFAULT_ROLE, isTrustedService }: Credentials): Actor {
  return { role, isTrustedService };
}
