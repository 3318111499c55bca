/**
 * What an instance does: `api` answers requests and streams, `worker` runs graphs, `cron` starts what is due. Apart, a graph
 * that burns CPU or brings its process down stalls no stream.
 */
export const INSTANCE_ROLES = ["api", "worker", "cron"] as const;
export type InstanceRole = (typeof INSTANCE_ROLES)[number];
