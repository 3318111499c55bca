import { createConnection, type Socket } from "node:net";
import type { Clock } from "@throughline/ai-core";
import { keepLink } from "../bus/keep-link.js";
import { createOutbox } from "../bus/outbox.js";
import { writeFrame } from "./frames.js";

/** The way to one other process of this host. */
export interface SiblingLink {
  isUp(): boolean;
  /** `false` while the other one does not answer. `onLost` as in `Outbox`. */
  send(message: Buffer, onLost: () => void): boolean;
  close(): void;
}

export interface SiblingLinkOptions {
  readonly clock: Clock;
  /** Where the other one listens. */
  readonly address: string;
  /** The address of this process: the first frame. */
  readonly from: string;
}

/**
 * A process that is stopped accepts connections, so it has to answer before anything is sent to it. It is not asked again: what
 * it does not take fills a buffer, and the outbox notices.
 */
export function keepSiblingLink({ clock, address, from }: SiblingLinkOptions): SiblingLink {
  const link = keepLink<Socket>({
    clock,
    create(onLost) {
      const socket = createConnection(address);
      socket.on("error", onLost);
      socket.on("close", () => onLost(new Error("The other process closed the connection.")));
      return socket;
    },
    introduce: (socket) => greet(socket, from),
    destroy: (socket) => void socket.destroy(),
    onUp() {},
    onDown() {},
  });
  const outbox = createOutbox({
    clock,
    post: (message) => post(link.client(), message),
    onStalled() {
      const socket = link.client();
      if (socket) link.drop(socket, new Error("The other process takes no messages."));
    },
  });
  return {
    isUp: () => link.client() !== undefined,
    send(message, onLost) {
      if (link.client() === undefined) return false;
      outbox.send(message, onLost);
      return true;
    },
    close: link.close,
  };
}

/** Resolves when the other one has read the first frame. */
function greet(socket: Socket, from: string): Promise<void> {
  return new Promise((resolve) => {
    socket.once("data", () => resolve());
    writeFrame(socket, Buffer.from(from));
  });
}

function post(socket: Socket | undefined, message: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    if (socket === undefined) reject(new Error("not connected"));
    else writeFrame(socket, message, (error) => (error ? reject(error) : resolve()));
  });
}
