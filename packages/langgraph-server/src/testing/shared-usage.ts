import type { RedisBus } from "@throughline/thread-log";
import { type AccountUsage, createAccountUsage } from "../accounts/limits.js";
import { createRedisCounts } from "../accounts/redis-limits.js";

export { type AccountUsage, DEFAULT_LIMITS } from "../accounts/limits.js";

/** What an instance with this bus counts of its accounts. */
export function createSharedUsage(bus: RedisBus): AccountUsage {
  return createAccountUsage({ shared: createRedisCounts(bus) });
}
