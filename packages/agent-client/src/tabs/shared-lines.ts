import type { ControllerHooks, MovableController } from "../client/thread-controller.js";
import { isPending } from "../commands/agent-command-scheduler.js";
import { createSharedLine, type SharedLine, type SharedLineOptions } from "./shared-line.js";
import type { FollowerWord } from "./tab-channel.js";

export interface SharedLinesOptions extends Pick<SharedLineOptions, "send" | "soon" | "onOpen"> {
  readonly createController: (key: string, hooks: ControllerHooks) => MovableController;
  readonly isLeader: () => boolean;
  /** Whether another tab needs this one to hold the thread. */
  readonly isWanted: (key: string) => boolean;
  /** As follower: sends a request to the leader. */
  readonly ask: (word: FollowerWord) => void;
}

/** The lines of all threads that this tab shows, or that it holds for other tabs as leader. */
export interface SharedLines {
  readonly all: ReadonlyMap<string, SharedLine>;
  /** Returns the line of a thread, created on first use. */
  line(key: string): SharedLine;
  /** Returns the line of a thread that this tab shows from now on. */
  show(key: string, hooks: ControllerHooks): SharedLine;
  /** Evicts a thread that this tab no longer shows. */
  evict(key: string): void;
  /** As leader: which threads other tabs have open. */
  openElsewhere(keys: ReadonlySet<string>): void;
}

/** More messages than a line sends in its life. */
const SEQ_STEP = 2 ** 32;

const UNHOOKED: ControllerHooks = { onChange() {}, onShown() {} };

export function createSharedLines(options: SharedLinesOptions): SharedLines {
  const { ask, send, soon, onOpen } = options;
  const lines = new Map<string, SharedLine>();
  const hooksOf = new Map<string, ControllerHooks>();
  let lives = 0;

  function lineOf(key: string): SharedLine {
    const known = lines.get(key);
    if (known) return known;
    const hooks = (): ControllerHooks => hooksOf.get(key) ?? UNHOOKED;
    const line = createSharedLine({
      key,
      send,
      soon,
      onOpen,
      onChange: () => hooks().onChange(),
      onShown: (input) => hooks().onShown(input),
      createController: (own) => options.createController(key, own),
      ask: (request) => ask({ ...request, key }),
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

  /** Closes a thread that was held only for another tab, which no longer needs it. */
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
    evict(key) {
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
