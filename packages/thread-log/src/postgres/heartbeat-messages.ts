import type { MessagePort } from "node:worker_threads";
import type pg from "pg";
import type { HeldLease } from "../registry/kept-leases.js";

export interface HeartbeatSettings {
  readonly connection: pg.ClientConfig;
  readonly statement: string;
  readonly leaseMs: number;
  readonly everyMs: number;
}

/** What the heartbeat's thread is started with. Back through the port comes a `Beat` for each heartbeat that was answered. */
export interface HeartbeatWorkerData {
  readonly settings: HeartbeatSettings;
  readonly port: MessagePort;
}

export type ToHeartbeatWorker =
  | ({ readonly kind: "keep" } & HeldLease)
  | ({ readonly kind: "drop" } & HeldLease)
  | { readonly kind: "close" };
