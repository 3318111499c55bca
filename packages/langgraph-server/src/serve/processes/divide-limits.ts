import type { ServerConfig } from "../../config/read-config.js";

/** A process's share of what an instance may take: together they take no more than one alone would. */
export function divideLimits(config: ServerConfig, processes: number): ServerConfig {
  const share = (limit: number) => Math.ceil(limit / processes);
  const { limits, attachmentLimits, transferLimits } = config;
  return {
    ...config,
    // With Redis an account's limits are counted over all processes; without it by each for itself.
    limits:
      config.redisUrl !== undefined
        ? limits
        : {
            ...limits,
            maxWatchers: share(limits.maxWatchers),
            maxStartsPerMinute: share(limits.maxStartsPerMinute),
            maxBodyBytesPerMinute: share(limits.maxBodyBytesPerMinute),
            maxDeletionsPerMinute: share(limits.maxDeletionsPerMinute),
          },
    attachmentLimits: {
      ...attachmentLimits,
      maxAttachmentBytesInRuns: share(attachmentLimits.maxAttachmentBytesInRuns),
    },
    transferLimits: {
      maxTransfersPerAccount: share(transferLimits.maxTransfersPerAccount),
      maxTransfersPerInstance: share(transferLimits.maxTransfersPerInstance),
    },
  };
}
