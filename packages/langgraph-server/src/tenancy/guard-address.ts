import { ThroughlineError } from "@throughline/ai-core";
import type { CallerResolver } from "./caller-resolver.js";
import { isLoopbackHost } from "./loopback.js";

/** Refuses to listen beyond loopback without sign-in. */
export function guardAddress(resolver: CallerResolver, host: string): void {
  if (resolver.isSafeInPublic || isLoopbackHost(host)) return;
  throw new ThroughlineError(
    "invalid_input",
    `Sign-in is off, and ${host} can be reached from other machines. Set THROUGHLINE_JWT_SECRET or ` +
      "THROUGHLINE_JWKS_URL so that callers must sign in, or set THROUGHLINE_HOST=127.0.0.1.",
  );
}
