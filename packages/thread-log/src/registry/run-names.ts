import { ThroughlineError } from "@throughline/ai-core";
import type { RunName } from "../port/run-record.js";

/** R25: long enough for a run that overtakes its stop on the way, short enough that it is gone when the name is used again. */
export const STOP_TOMBSTONE_MS = 60_000;

/** R24: an upstream that closes its stream late is free again within a second. */
export const BUSY_RETRY_MS = 1_000;

const MAX_ALIAS = 256;

/** An alias comes from a client and is part of a key. */
export function checkAlias(alias: string | undefined): void {
  if (alias === undefined) return;
  if (alias.length >= 1 && alias.length <= MAX_ALIAS && !/[\p{Cc}\p{Cs}]/u.test(alias)) return;
  throw new ThroughlineError(
    "invalid_input",
    `runId: 1–${MAX_ALIAS} characters, none of them a control character`,
    {
      details: { field: "runId" },
    },
  );
}

export function nameOf(name: RunName): string {
  return "runId" in name ? name.runId : name.alias;
}
