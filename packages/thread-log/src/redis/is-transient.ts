import { ThroughlineError } from "@throughline/ai-core";
import { ClientClosedError, ErrorReply } from "redis";
import { isTransient as isTransientInPostgres } from "../postgres/is-transient.js";

/** Loading, full, can't write its file, a replica now, or in a long script: the same may succeed later. */
const TRANSIENT_REPLY =
  /^(LOADING|OOM|MISCONF|READONLY|BUSY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|NOREPLICAS|UNBLOCKED|EXECABORT)/;

export function isTransient(error: unknown): boolean {
  if (error instanceof ErrorReply) return TRANSIENT_REPLY.test(error.message);
  // Said on purpose, or after `close`; every other loss of a connection is made good.
  if (error instanceof ThroughlineError || error instanceof ClientClosedError) return false;
  return isTransientInPostgres(error);
}
