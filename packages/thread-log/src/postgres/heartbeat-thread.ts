import { once } from "node:events";
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";
import type { LeaseHealth } from "../port/lease-keeper.js";
import type { Beat, HeldLease } from "../registry/kept-leases.js";
import type { HeartbeatSettings, HeartbeatWorkerData, ToHeartbeatWorker } from "./heartbeat-messages.js";
import { within } from "./within.js";

export type StartWorker = (data: HeartbeatWorkerData) => Worker;

export interface HeartbeatThreadOptions {
  readonly settings: HeartbeatSettings;
  /** What a thread that was started anew is to keep. */
  readonly leases: () => readonly HeldLease[];
  readonly onBeat: (beat: Beat) => void;
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
export function threadsNow(): number {
  return performance.timeOrigin + performance.now();
}

const startHeartbeatWorker: StartWorker = (data) =>
  new Worker(new URL("./heartbeat-worker.mjs", import.meta.url), {
    workerData: data,
    transferList: [data.port],
  });

/** Keeps a heartbeat thread running: one that ends is started again, with growing pauses. */
export function startHeartbeatThread(options: HeartbeatThreadOptions): HeartbeatThread {
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
    // Neither keeps a process alive that has nothing else to do.
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

  function receive(beat: Beat): void {
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
