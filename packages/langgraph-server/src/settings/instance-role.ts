/**
 * The role of an instance: `api` serves requests and streams, `worker` runs graphs, `cron` starts due ticks. With separate
 * instances, a graph that burns CPU or brings its process down stalls no stream.
 */
export const INSTANCE_ROLES = ["api", "worker", "cron"] as const;
export type InstanceRole = (typeof INSTANCE_ROLES)[number];
