import type { RedisBus } from "@throughline/thread-log";
import { type AccountLimiter, createAccountLimiter } from "../accounts/limits.js";
import { createRedisCounts } from "../accounts/redis-limits.js";

export { type AccountLimiter, DEFAULT_LIMITS } from "../accounts/limits.js";

/** What an instance with this bus counts of its accounts. */
export function createSharedUsage(bus: RedisBus): AccountLimiter {
  return createAccountLimiter({ shared: createRedisCounts(bus) });
}
