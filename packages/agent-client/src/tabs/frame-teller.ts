import type { ShownInput } from "../client/thread-controller.js";
import type { EventText } from "../transport/event-stream.js";
import type { LeaderWord } from "./tab-channel.js";

/** Tells other tabs what a leader shows of a thread, in order and by number. */
export interface FrameTeller {
  /** From now on words have numbers above this. */
  begin(seq: number): void;
  /** Of the last word. */
  seq(): number;
  /** Something was shown. Frames of one animation frame go together. */
  shown(input: ShownInput, texts: readonly EventText[]): void;
  /** Tells what was shown and not told yet. */
  flush(): void;
  /** Any other word, behind what was shown before it. */
  tell(word: LeaderWord): void;
  /** Another tab leads: what was not told yet, it tells. */
  drop(): void;
}

export function createFrameTeller(
  key: string,
  tell: (word: LeaderWord) => void,
  /** Calls back when frames that came until then are told. */
  soon: (callback: () => void) => void,
): FrameTeller {
  let seq = 0;
  let untold: EventText[] = [];

  function flush(): void {
    if (untold.length === 0) return;
    const texts = untold;
    untold = [];
    seq += 1;
    tell({ kind: "frames", key, seq, texts });
  }

  return {
    begin(first) {
      seq = first;
    },
    seq: () => seq,
    shown(input, texts) {
      if (input.kind === "frames") {
        const isFirst = untold.length === 0;
        untold.push(...texts);
        if (isFirst) soon(flush);
        return;
      }
      flush();
      seq += 1;
      tell({ kind: "shown", key, seq, input });
    },
    flush,
    tell(word) {
      flush();
      tell(word);
    },
    drop() {
      untold = [];
    },
  };
}
