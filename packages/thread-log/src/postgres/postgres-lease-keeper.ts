import type { LeaseKeeper } from "../port/lease-keeper.js";
import { createKeptLeases, leaseOf } from "../registry/kept-leases.js";
import { heartbeatStatement } from "./heartbeat-statement.js";
import { type StartWorker, startHeartbeatThread, threadsNow } from "./heartbeat-thread.js";
import type { PostgresDatabase } from "./open-postgres.js";

export interface PostgresLeaseKeeperOptions {
  readonly database: PostgresDatabase;
  readonly leaseMs: number;
  /** A third of `leaseMs` or less, so that a renewal that is lost costs nothing. */
  readonly everyMs: number;
  /** Instead of the package's own thread, for tests. */
  readonly startWorker?: StartWorker;
}

const LOOKS_PER_LEASE = 20;

/** R17: renews from a thread and over a connection of its own, so that a node that keeps the CPU busy does not look dead. */
export function createPostgresLeaseKeeper({
  database,
  leaseMs,
  everyMs,
  startWorker,
}: PostgresLeaseKeeperOptions): LeaseKeeper {
  const kept = createKeptLeases(leaseMs, (fence) => thread.drop(leaseOf(fence)));
  const thread = startHeartbeatThread({
    settings: {
      connection: database.direct,
      statement: heartbeatStatement(database.schema),
      leaseMs,
      everyMs,
    },
    leases: () => kept.fences().map(leaseOf),
    onBeat: kept.apply,
    startWorker,
  });
  const unsubscribe = database.onWake((message) => {
    if (message.kind === "stop") kept.stop(message.runId);
  });
  let timer: NodeJS.Timeout | undefined;

  /** Renewals that this thread was too busy to receive count; a heartbeat thread that is silent does not. */
  function judge(): void {
    thread.drain();
    kept.expire(threadsNow());
    watch();
  }

  /**
   * Renewals only put an expiry off, so one timer for the earliest is enough. It is never set far ahead: in a process that
   * stood still, timers run in the order they were due, and this one must be among the first.
   */
  function watch(): void {
    clearTimeout(timer);
    timer = undefined;
    const expiry = kept.nextExpiry();
    if (expiry === undefined) return;
    const aheadMs = Math.min(Math.ceil(expiry - threadsNow()), leaseMs / LOOKS_PER_LEASE);
    timer = setTimeout(judge, Math.max(0, aheadMs));
    timer.unref();
  }

  return {
    keep(fence, listener) {
      const letGo = kept.keep(fence, listener, threadsNow());
      thread.keep(leaseOf(fence));
      if (timer === undefined) watch();
      return () => {
        if (letGo()) thread.drop(leaseOf(fence));
      };
    },
    healthy: thread.healthy,
    async close() {
      unsubscribe();
      clearTimeout(timer);
      kept.clear();
      await thread.close();
    },
  };
}
