/** One writer's share of the terminal: what it writes shows at once if it is first in line, else when its turn comes. */
export interface Slot {
  write(text: string): void;
  close(): void;
}

/** Keeps texts that stream at the same time apart: the oldest open one is live, the others wait and then catch up. */
export interface LiveLines {
  open(): Slot;
  /** Ends every slot that is still open, oldest first. */
  closeAll(): void;
}

interface Waiting {
  kept: string;
  closed: boolean;
}

export function liveLines(write: (text: string) => void): LiveLines {
  const line: Waiting[] = [];
  const advance = () => {
    for (let first = line[0]; first; first = line[0]) {
      if (first.kept !== "") write(first.kept);
      first.kept = "";
      if (!first.closed) return;
      line.shift();
    }
  };
  return {
    open() {
      const own: Waiting = { kept: "", closed: false };
      line.push(own);
      return {
        write(text) {
          if (own.closed) return;
          own.kept += text;
          if (line[0] === own) advance();
        },
        close() {
          own.closed = true;
          advance();
        },
      };
    },
    closeAll() {
      for (const slot of line) slot.closed = true;
      advance();
    },
  };
}
