import type { WakeHint } from "../port/log-store.js";

export type WakeMessage =
  | WakeHint
  | { readonly kind: "stop"; readonly runId: string }
  /** A run can be claimed. */
  | { readonly kind: "released" };

/** PostgreSQL refuses a payload of 8,000 bytes. */
const MAX_PAYLOAD = 7_999;
const INSTANCE_LENGTH = 8;
const TAG_LENGTH = 8;

/** `{instance}{kind}{body}`: an instance skips its own, which it has served from memory already. */
export function encodeWake(instance: string, message: WakeMessage): string {
  switch (message.kind) {
    case "all":
      return `${instance}a`;
    case "stop":
      return `${instance}s${message.runId}`;
    case "released":
      return `${instance}r`;
    case "threads": {
      const payload = `${instance}w${message.tags.join("")}`;
      return payload.length > MAX_PAYLOAD ? encodeWake(instance, { kind: "all" }) : payload;
    }
  }
}

/** `undefined` for our own. What cannot be read, from a newer version say, wakes everybody: a hint may name too many. */
export function decodeWake(instance: string, payload: string): WakeMessage | undefined {
  if (payload.startsWith(instance)) return undefined;
  const body = payload.slice(INSTANCE_LENGTH + 1);
  switch (payload[INSTANCE_LENGTH]) {
    case "w":
      return { kind: "threads", tags: body.match(new RegExp(`.{${TAG_LENGTH}}`, "g")) ?? [] };
    case "s":
      return { kind: "stop", runId: body };
    case "r":
      return { kind: "released" };
    default:
      return { kind: "all" };
  }
}
