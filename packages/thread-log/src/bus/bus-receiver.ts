import type { BusTraffic, EntryBus } from "../port/entry-bus.js";
import type { Wake } from "../port/log-store.js";
import { decodeBusMessage } from "./bus-message.js";

/** The receiving end of a bus: what it hears becomes wakes for the log. */
export interface BusReceiver extends Pick<EntryBus, "subscribe"> {
  receive(message: Buffer): void;
  tell(wake: Wake): void;
  close(): void;
}

export interface BusReceiverOptions {
  /** The sender of messages that are skipped: this instance has served them from memory. */
  readonly instance: string;
  readonly onTraffic: (traffic: BusTraffic) => void;
}

export function createBusReceiver({ instance, onTraffic }: BusReceiverOptions): BusReceiver {
  const listeners = new Set<(wake: Wake) => void>();

  function tell(wake: Wake): void {
    for (const listener of listeners) listener(wake);
  }

  return {
    tell,
    receive(payload) {
      const message = decodeBusMessage(instance, payload);
      if (message.kind === "own") return;
      onTraffic("received");
      if (message.kind === "unreadable") tell({ kind: "all" });
      else for (const commit of message.commits) tell(commit);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: () => listeners.clear(),
  };
}
