import { once } from "node:events";
import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import type { Fence } from "@throughline/ai-core";
import type { LeaseKeeper, LeaseListener } from "../port/run-registry.js";
import { heartbeatStatement } from "./heartbeat-statement.js";
import { type FromWorker, type HeartbeatSettings, runHeartbeats, type ToWorker } from "./heartbeat-worker.js";
import type { PostgresDatabase } from "./open-postgres.js";

export interface PostgresLeaseKeeperOptions {
  readonly database: PostgresDatabase;
  readonly leaseMs: number;
  /** A third of `leaseMs` or less, so that one that goes astray costs nothing. */
  readonly everyMs: number;
}

interface Kept {
  readonly fence: Fence;
  readonly listener: LeaseListener;
  stopped: boolean;
}

/** R17: renews from a thread and over a connection of its own, so that a node that keeps the CPU busy does not look dead. */
export function createPostgresLeaseKeeper({
  database,
  leaseMs,
  everyMs,
}: PostgresLeaseKeeperOptions): LeaseKeeper {
  const kept = new Map<string, Kept>();
  const settings: HeartbeatSettings = {
    connection: database.connection,
    statement: heartbeatStatement(database.schema),
    leaseMs,
    everyMs,
  };
  const worker = new Worker(
    `const { parentPort, workerData } = require("node:worker_threads");
     (${runHeartbeats.toString()})(parentPort, workerData.settings, require(workerData.pg).Client);`,
    { eval: true, workerData: { settings, pg: createRequire(import.meta.url).resolve("pg") } },
  );
  worker.unref();
  const send = (message: ToWorker) => worker.postMessage(message);
  const forget = database.onWake((message) => {
    if (message.kind === "stop") tellStop(message.runId);
  });

  function tellStop(runId: string): void {
    const held = kept.get(runId);
    if (!held || held.stopped) return;
    held.stopped = true;
    held.listener.stop();
  }

  function tellLost(runId: string): void {
    const held = kept.get(runId);
    kept.delete(runId);
    held?.listener.lost();
  }

  worker.on("message", ({ kind, runId }: FromWorker) => {
    if (kind === "stop") tellStop(runId);
    else tellLost(runId);
  });
  // Without heartbeats every lease will run out: better to let go of the runs now than to be fenced in the middle.
  worker.on("error", () => [...kept.keys()].forEach(tellLost));

  return {
    keep(fence, listener) {
      kept.set(fence.runId, { fence, listener, stopped: false });
      send({ kind: "keep", runId: fence.runId, token: fence.token.toString() });
      return () => {
        if (kept.get(fence.runId)?.fence !== fence) return;
        kept.delete(fence.runId);
        send({ kind: "drop", runId: fence.runId });
      };
    },
    async close() {
      forget();
      kept.clear();
      const exited = once(worker, "exit");
      worker.ref();
      send({ kind: "close" });
      await exited;
    },
  };
}
