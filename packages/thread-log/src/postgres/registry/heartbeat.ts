import { once } from "node:events";
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";
import type { Fence } from "@throughline/ai-core";
import type pg from "pg";
import {
  createHeldLeases,
  type Heartbeat,
  type HeldLease,
  type LeaseHealth,
  type LeaseKeeper,
  leaseOf,
} from "../../registry/leases.js";
import { within } from "../connection/pool.js";
import type { PostgresDatabase } from "../database.js";

export interface PostgresLeaseKeeperOptions {
  readonly database: PostgresDatabase;
  readonly leaseMs: number;
  /** A third of `leaseMs` or less, so that a renewal that is lost costs nothing. */
  readonly everyMs: number;
  /** Instead of the package's own thread, for tests. */
  readonly startWorker?: StartWorker;
}

const LOOKS_PER_LEASE = 20;

/** R17: renews from a thread and over a connection of its own, so that a CPU-bound node does not look dead. */
export function createPostgresLeaseKeeper({
  database,
  leaseMs,
  everyMs,
  startWorker,
}: PostgresLeaseKeeperOptions): LeaseKeeper {
  const heldLeases = createHeldLeases(leaseMs, (fence) => thread.drop(leaseOf(fence)));
  const thread = startHeartbeatThread({
    settings: {
      connection: database.direct,
      statement: heartbeatStatement(database.schema),
      leaseMs,
      everyMs,
    },
    leases: () => heldLeases.fences().map(leaseOf),
    onBeat: heldLeases.apply,
    startWorker,
  });
  const unsubscribe = database.onWake((message) => {
    if (message.kind === "stop") heldLeases.stop(message.runId);
  });
  let timer: NodeJS.Timeout | undefined;

  /** Ends leases that are over. Renewals that this thread was too busy to receive count; a silent heartbeat thread does not. */
  function judge(): void {
    thread.drain();
    heldLeases.expire(threadsNow());
    watch();
  }

  /**
   * Schedules the next check. Renewals only postpone an expiry, so one timer for the earliest is enough. It is never set far
   * ahead: after a pause of the process, timers run in the order they were due, and this one must be among the first.
   */
  function watch(): void {
    clearTimeout(timer);
    timer = undefined;
    const expiry = heldLeases.nextExpiry();
    if (expiry === undefined) return;
    const aheadMs = Math.min(Math.ceil(expiry - threadsNow()), leaseMs / LOOKS_PER_LEASE);
    timer = setTimeout(judge, Math.max(0, aheadMs));
    timer.unref();
  }

  return {
    keep(fence, listener) {
      const release = heldLeases.hold(fence, listener, threadsNow());
      thread.keep(leaseOf(fence));
      if (timer === undefined) watch();
      return () => {
        if (release()) thread.drop(leaseOf(fence));
      };
    },
    healthy: thread.healthy,
    async close() {
      unsubscribe();
      clearTimeout(timer);
      heldLeases.clear();
      await thread.close();
    },
  };
}

type StartWorker = (data: HeartbeatWorkerData) => Worker;

export interface HeartbeatThreadOptions {
  readonly settings: HeartbeatSettings;
  /** The leases that a restarted thread is to renew. */
  readonly leases: () => readonly HeldLease[];
  readonly onBeat: (beat: Heartbeat) => void;
  readonly startWorker?: StartWorker | undefined;
}

export interface HeartbeatThread {
  keep(lease: HeldLease): void;
  drop(lease: HeldLease): void;
  /** Passes on at once what the thread has sent, also when this thread was too busy to receive it. */
  drain(): void;
  healthy(): LeaseHealth;
  close(): Promise<void>;
}

const FIRST_RESTART_MS = 100;
const LONGEST_RESTART_MS = 5_000;
const CLOSE_MS = 1_000;

/** A monotonic clock that all threads of a process share. */
function threadsNow(): number {
  return performance.timeOrigin + performance.now();
}

const startHeartbeatWorker: StartWorker = (data) =>
  new Worker(new URL("./heartbeat-worker.mjs", import.meta.url), {
    workerData: data,
    transferList: [data.port],
  });

/** Runs a heartbeat thread and restarts it whenever it ends, with growing pauses. */
function startHeartbeatThread(options: HeartbeatThreadOptions): HeartbeatThread {
  const { settings, leases, onBeat, startWorker = startHeartbeatWorker } = options;
  let current: { readonly worker: Worker; readonly port: MessagePort } | undefined;
  let restart: NodeJS.Timeout | undefined;
  let restarts = 0;
  let lastBeatAt = threadsNow();
  let isClosed = false;

  function start(): void {
    const { port1: port, port2 } = new MessageChannel();
    const worker = startWorker({ settings, port: port2 });
    current = { worker, port };
    port.on("message", receive);
    // Neither holds a process open that has nothing else to do.
    port.unref();
    worker.unref();
    // An error is followed by the exit.
    worker.on("error", () => {});
    worker.on("exit", () => {
      port.close();
      current = undefined;
      if (!isClosed) startAgain();
    });
    for (const lease of leases()) send({ kind: "keep", ...lease });
  }

  function startAgain(): void {
    const delay = Math.min(FIRST_RESTART_MS * 2 ** restarts, LONGEST_RESTART_MS);
    restarts += 1;
    restart = setTimeout(() => {
      try {
        start();
      } catch {
        // The system gives us no thread right now.
        startAgain();
      }
    }, delay);
    restart.unref();
  }

  function receive(beat: Heartbeat): void {
    restarts = 0;
    lastBeatAt = beat.sentAt;
    onBeat(beat);
  }

  function send(message: ToHeartbeatWorker): void {
    current?.port.postMessage(message);
  }

  function drain(): void {
    if (!current) return;
    const { port } = current;
    for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port))
      receive(next.message);
  }

  start();
  return {
    keep: (lease) => send({ kind: "keep", ...lease }),
    drop: (lease) => send({ kind: "drop", ...lease }),
    drain,
    healthy() {
      drain();
      if (!current || restarts > 0) return { ok: false, reason: "The heartbeat thread is being restarted." };
      const silentMs = threadsNow() - lastBeatAt;
      if (silentMs <= settings.leaseMs) return { ok: true };
      return { ok: false, reason: `No heartbeat was answered for ${Math.round(silentMs / 1_000)} s.` };
    },
    async close() {
      isClosed = true;
      clearTimeout(restart);
      if (!current) return;
      const { worker } = current;
      const exited = once(worker, "exit");
      worker.ref();
      send({ kind: "close" });
      if (!(await within(CLOSE_MS, exited))) await worker.terminate();
    },
  };
}

interface HeartbeatSettings {
  readonly connection: pg.ClientConfig;
  readonly statement: string;
  readonly leaseMs: number;
  readonly everyMs: number;
}

/** Start parameters of the heartbeat's thread. It posts a `Heartbeat` to the port for each heartbeat that got a response. */
export interface HeartbeatWorkerData {
  readonly settings: HeartbeatSettings;
  readonly port: MessagePort;
}

export type ToHeartbeatWorker =
  | ({ readonly kind: "keep" } & HeldLease)
  | ({ readonly kind: "drop" } & HeldLease)
  | { readonly kind: "close" };

/**
 * All leases of an instance in one statement. A run that another instance recovered has another fence by now. Locks the runs
 * in order of their ids, as a commit in which several of them end does: else the two could wait for each other.
 */
export function heartbeatStatement(schema: string): string {
  return `with held as materialized (
      select r.run_id from unnest($1::text[], $2::bigint[]) as f (run_id, token)
      join ${schema}.runs r on r.run_id = f.run_id and r.fence = f.token and r.status = 'running'
      order by r.run_id for update of r
    )
    update ${schema}.runs r set lease_until = case when r.stop_requested then r.lease_until
      else clock_timestamp() + $3::double precision * interval '1 millisecond' end
    from held where r.run_id = held.run_id
    returning r.run_id, r.stop_requested`;
}

export function heartbeatValues(fences: readonly Fence[], leaseMs: number): unknown[] {
  return [fences.map(({ runId }) => runId), fences.map(({ token }) => token.toString()), leaseMs];
}
