import type { LeaderMessage } from "./tab-message.js";

type FramesMessage = Extract<LeaderMessage, { kind: "frames" }>;

/** Neither JSON nor an event's id holds it. */
const SEPARATOR = "\0";

/** One text for all: of all that can be posted, a browser copies that the fastest. */
export function writeFrames({ epoch, key, seq, texts }: FramesMessage): string {
  return [epoch, key, seq, ...texts.flatMap(({ id = "", data }) => [id, data])].join(SEPARATOR);
}

export function readFramesMessage(text: string): FramesMessage {
  const [epoch, key = "", seq, ...rest] = text.split(SEPARATOR);
  const texts = [];
  for (let at = 0; at < rest.length; at += 2)
    texts.push({ id: rest[at] || undefined, data: rest[at + 1] ?? "" });
  return { kind: "frames", epoch: Number(epoch), key, seq: Number(seq), texts };
}
