import type { RedisBus } from "@throughline/thread-log";
import { type AccountUsage, createAccountUsage } from "../../tenancy/account-limits.js";
import { createRedisCounts } from "../../tenancy/redis-counts.js";

export { type AccountUsage, DEFAULT_LIMITS } from "../../tenancy/account-limits.js";

/** What an instance with this bus counts of its accounts. */
export function createSharedUsage(bus: RedisBus): AccountUsage {
  return createAccountUsage({ shared: createRedisCounts(bus) });
}
