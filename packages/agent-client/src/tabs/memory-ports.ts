import type { ChannelPort, LockPort } from "./ports.js";

interface Request {
  start(): void;
  readonly reject: (reason: Error) => void;
}

/** A lock port within one process, for many tabs in one test. */
export function createMemoryLocks(): LockPort {
  const holders = new Map<string, Request>();
  const queues = new Map<string, Request[]>();

  function next(name: string): void {
    const waiting = queues.get(name)?.shift();
    if (waiting) waiting.start();
    else queues.delete(name);
  }

  return {
    request(name, { steal, signal }, held) {
      return new Promise<void>((resolve, reject) => {
        const request: Request = {
          reject,
          start() {
            holders.set(name, request);
            const release = () => {
              if (holders.get(name) !== request) return;
              holders.delete(name);
              next(name);
            };
            void Promise.resolve().then(held).then(resolve, reject).finally(release);
          },
        };
        if (signal?.aborted) return reject(new Error("The wish for a lock was taken back."));
        if (steal) {
          holders.get(name)?.reject(new Error("The lock was stolen."));
          return request.start();
        }
        if (!holders.has(name)) return request.start();
        const queue = queues.get(name) ?? [];
        queues.set(name, queue);
        queue.push(request);
        signal?.addEventListener("abort", () => {
          const at = queue.indexOf(request);
          if (at < 0) return;
          queue.splice(at, 1);
          reject(new Error("The wish for a lock was taken back."));
        });
      });
    },
  };
}

/** A channel port within one process. A message is copied and arrives later, like a browser's. */
export function createMemoryChannels(): ChannelPort {
  const listenersOf = new Map<string, Set<(message: unknown) => void>>();
  return {
    open(name, listener) {
      const listeners = listenersOf.get(name) ?? new Set();
      listenersOf.set(name, listeners);
      let isOpen = true;
      const receive = (message: unknown) => {
        if (isOpen) listener(message);
      };
      listeners.add(receive);
      return {
        post(message) {
          const copy: unknown = structuredClone(message);
          const others = [...listeners].filter((one) => one !== receive);
          queueMicrotask(() => {
            for (const other of others) other(copy);
          });
        },
        close() {
          isOpen = false;
          listeners.delete(receive);
        },
      };
    },
  };
}
