import type { LineHooks, MovableLine } from "../client/thread-controller.js";
import { isPending } from "../commands/agent-command-scheduler.js";
import { createSharedLine, type SharedLine, type SharedLineOptions } from "./shared-line.js";
import type { FollowerWord } from "./tab-channel.js";

export interface SharedLinesOptions extends Pick<SharedLineOptions, "tell" | "soon" | "onOpen"> {
  readonly createLine: (key: string, hooks: LineHooks) => MovableLine;
  readonly isLeader: () => boolean;
  /** Whether another tab needs this one to hold the thread. */
  readonly isWanted: (key: string) => boolean;
  /** As follower: asks the leader. */
  readonly ask: (word: FollowerWord) => void;
}

/** The lines of all threads that this tab shows, or as leader holds for others. */
export interface SharedLines {
  readonly all: ReadonlyMap<string, SharedLine>;
  /** Made when it is asked for. */
  line(key: string): SharedLine;
  /** This tab shows the thread. */
  show(key: string, hooks: LineHooks): SharedLine;
  /** This tab does not show it any more. */
  letGo(key: string): void;
  /** As leader: which threads other tabs have open. */
  openElsewhere(keys: ReadonlySet<string>): void;
}

/** More words than a line has in its life. */
const SEQ_STEP = 2 ** 32;

const UNHOOKED: LineHooks = { onChange() {}, onShown() {} };

export function createSharedLines(options: SharedLinesOptions): SharedLines {
  const { ask, tell, soon, onOpen } = options;
  const lines = new Map<string, SharedLine>();
  const hooksOf = new Map<string, LineHooks>();
  let lives = 0;

  function lineOf(key: string): SharedLine {
    const known = lines.get(key);
    if (known) return known;
    const hooks = (): LineHooks => hooksOf.get(key) ?? UNHOOKED;
    const line = createSharedLine({
      key,
      tell,
      soon,
      onOpen,
      onChange: () => hooks().onChange(),
      onShown: (input) => hooks().onShown(input),
      createLine: (own) => options.createLine(key, own),
      ask: (word) => ask({ ...word, key }),
      firstSeq() {
        lives += 1;
        return lives * SEQ_STEP;
      },
    });
    lines.set(key, line);
    if (options.isLeader()) line.lead();
    else line.follow();
    return line;
  }

  /** Lets go of a thread that was held for another tab alone, which needs it no more. */
  function dropUnused(key: string, line: SharedLine): void {
    if (hooksOf.has(key) || options.isWanted(key) || isPending(line.pending())) return;
    lines.delete(key);
    line.close();
  }

  return {
    all: lines,
    line: lineOf,
    show(key, hooks) {
      hooksOf.set(key, hooks);
      return lineOf(key);
    },
    letGo(key) {
      hooksOf.delete(key);
      const line = lines.get(key);
      if (line) dropUnused(key, line);
    },
    openElsewhere(keys) {
      for (const [key, line] of lines) {
        line.openElsewhere(keys.has(key));
        dropUnused(key, line);
      }
    },
  };
}
