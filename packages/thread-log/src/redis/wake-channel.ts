import { randomBytes } from "node:crypto";
import type { Wake } from "../port/log-store.js";
import { decodeWake, encodeWake } from "../postgres/wake-message.js";
import type { RedisConnection } from "./redis-connection.js";

export interface WakeChannel {
  /** What a commit of these threads publishes. */
  message(tags: readonly string[]): { readonly channel: string; readonly message: string };
  /** Tells every instance, this one included. */
  tellAll(tags: readonly string[]): Promise<void>;
  subscribe(listener: (wake: Wake) => void): () => void;
}

/** One channel for all instances of a schema; its messages are hints, so whoever missed some looks at everything again. */
export async function createWakeChannel(
  reader: RedisConnection,
  writer: RedisConnection,
  schema: string,
): Promise<WakeChannel> {
  const channel = `throughline:${schema}:wake`;
  const instance = randomBytes(6).toString("base64url");
  const listeners = new Set<(wake: Wake) => void>();
  const tellOwn = (wake: Wake) => {
    for (const listener of listeners) listener(wake);
  };
  await reader.subscribe(channel, (payload) => {
    const message = decodeWake(instance, payload);
    if (message && message.kind !== "stop") tellOwn(message);
  });
  reader.onReconnect(() => tellOwn({ kind: "all" }));
  return {
    message: (tags) => ({ channel, message: encodeWake(instance, { kind: "threads", tags }) }),
    async tellAll(tags) {
      tellOwn({ kind: "threads", tags });
      await writer.send(["PUBLISH", channel, encodeWake(instance, { kind: "threads", tags })]);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
