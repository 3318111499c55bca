import type { ShownInput } from "../client/thread-controller.js";
import type { SseText } from "../transport/event-stream.js";
import type { LeaderWord } from "./tab-channel.js";

/** Sends the changes of a leader's thread to other tabs, in order and numbered. */
export interface FrameRelay {
  /** Sets the sequence number after which messages are numbered. */
  begin(seq: number): void;
  /** The sequence number of the last message. */
  seq(): number;
  /** Sends an input of the projection. Frames of one animation frame are sent together. */
  shown(input: ShownInput, texts: readonly SseText[]): void;
  /** Sends pending frames. */
  flush(): void;
  /** Sends any other message, after pending frames. */
  send(word: LeaderWord): void;
  /** Drops pending frames, because another tab leads: that tab sends them. */
  drop(): void;
}

export function createFrameRelay(
  key: string,
  send: (word: LeaderWord) => void,
  /** Calls back when pending frames are due to be sent. */
  soon: (callback: () => void) => void,
): FrameRelay {
  let seq = 0;
  let pending: SseText[] = [];

  function flush(): void {
    if (pending.length === 0) return;
    const texts = pending;
    pending = [];
    seq += 1;
    send({ kind: "frames", key, seq, texts });
  }

  return {
    begin(first) {
      seq = first;
    },
    seq: () => seq,
    shown(input, texts) {
      if (input.kind === "frames") {
        const isFirst = pending.length === 0;
        pending.push(...texts);
        if (isFirst) soon(flush);
        return;
      }
      flush();
      seq += 1;
      send({ kind: "shown", key, seq, input });
    },
    flush,
    send(word) {
      flush();
      send(word);
    },
    drop() {
      pending = [];
    },
  };
}
