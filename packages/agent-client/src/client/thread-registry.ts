import type { Clock } from "@throughline/ai-core";
import { isPending } from "../commands/agent-command-scheduler.js";
import type { createPendingSyncs } from "../commands/pending-sync.js";
import type { LogReader } from "../connection/thread-stream.js";
import type { ThreadName, Visibility } from "../transport/agent-service.js";
import { createNamedTimers } from "./environment.js";
import { type FrameScheduler, once } from "./store.js";
import type { LineHooks, ThreadLine } from "./thread-controller.js";
import { createThreadHandle, type ThreadHandle, type ThreadHandleParts } from "./thread-handle.js";

export interface HeldThread extends ThreadHandleParts {
  readonly line: ThreadLine;
}

export interface HeldThreadsOptions {
  readonly clock: Clock;
  readonly schedule: FrameScheduler;
  readonly maxOpen: number;
  readonly gcTime: number;
  readonly syncs: ReturnType<typeof createPendingSyncs>;
  readonly createLine: (key: string, hooks: LineHooks) => ThreadLine;
  readonly readLog: (key: string, reader: LogReader) => () => void;
  /** Something that a thread shows changed. */
  readonly onChange: (key: string, line: ThreadLine) => void;
  /** Which pages have a stream now. */
  readonly onOpen: (keys: readonly string[]) => void;
  /** Something beside its pages and its commands still needs the thread. */
  readonly isWanted: (key: string) => boolean;
  readonly onLetGo: (key: string) => void;
}

/** The threads of a client: each is made when it is used, and let go of a while after its last use. */
export function createHeldThreads(options: HeldThreadsOptions) {
  const { clock, schedule, syncs } = options;
  const held = new Map<string, HeldThread>();
  /** By thread, for as long as the page has them: what is let go of behind one comes back when it is used. */
  const handles = new Map<string, WeakRef<ThreadHandle>>();
  const partsOf = new WeakMap<ThreadHandle, ThreadHandleParts>();
  const unused = new FinalizationRegistry<string>((key) => {
    if (!handles.get(key)?.deref()) handles.delete(key);
  });
  let closed = false;

  const pages = createOpenPages({
    maxOpen: options.maxOpen,
    // A page may be left after the client was closed; the one below it is not opened for that.
    connect: (key) => (closed ? () => {} : hold(key).line.open()),
    onChange: options.onOpen,
  });
  const keeper = createThreadKeeper({
    clock,
    gcTime: options.gcTime,
    isUsed(key) {
      const pending = held.get(key)?.line.pending();
      return (pending && isPending(pending)) || options.isWanted(key);
    },
    letGo(key) {
      const left = held.get(key);
      held.delete(key);
      left?.line.close();
      options.onLetGo(key);
      left?.forget();
    },
  });

  function handleOf(key: string): ThreadHandleParts {
    const known = handles.get(key)?.deref();
    const kept = known && partsOf.get(known);
    if (kept) return kept;
    const parts = createThreadHandle({
      ...threadOf(key),
      line: () => hold(key).line,
      clock,
      schedule,
      open: () => retaining(key, pages.open(key)),
      readLog: (reader) => retaining(key, options.readLog(key, reader)),
      retain: () => keeper.retain(key),
    });
    handles.set(key, new WeakRef(parts.handle));
    partsOf.set(parts.handle, parts);
    unused.register(parts.handle, key);
    return parts;
  }

  function retaining(key: string, leave: () => void): () => void {
    const release = keeper.retain(key);
    return () => {
      leave();
      release();
    };
  }

  function hold(key: string): HeldThread {
    const known = held.get(key);
    if (known) return known;
    const parts = handleOf(key);
    const line = options.createLine(key, {
      onChange() {
        parts.changed();
        const now = held.get(key);
        if (now) options.onChange(key, now.line);
      },
      onShown: (input) => parts.shown(input),
    });
    const created: HeldThread = { ...parts, line };
    held.set(key, created);
    if (closed) {
      line.close();
      return created;
    }
    keeper.wait(key);
    // What was owed when the page was left. Sent again under its id, it is the same.
    const owed = syncs.load(key);
    if (owed) void line.submit(owed);
    return created;
  }

  return {
    hold,
    all: (): ReadonlyMap<string, HeldThread> => held,
    close(): void {
      closed = true;
      keeper.close();
      for (const { line, close } of held.values()) {
        line.close();
        close();
      }
    },
  };
}

export interface ThreadKeeperOptions {
  readonly clock: Clock;
  /** How long a thread is kept that nothing uses. `Infinity`: for ever. */
  readonly gcTime: number;
  /** Something beside what is counted still uses it. */
  readonly isUsed: (key: string) => boolean;
  readonly letGo: (key: string) => void;
}

/** Counts who uses a thread, and lets go of it a while after the last did. */
function createThreadKeeper({ clock, gcTime, isUsed, letGo }: ThreadKeeperOptions) {
  const users = new Map<string, number>();
  const timers = createNamedTimers<string>(clock, (key) => {
    if (isUsed(key)) wait(key);
    else letGo(key);
  });

  function wait(key: string): void {
    if (!users.has(key)) timers.set(key, gcTime);
  }

  return {
    /** A thread that is there and has no user yet. */
    wait,
    retain(key: string): () => void {
      users.set(key, (users.get(key) ?? 0) + 1);
      timers.set(key, undefined);
      return once(() => {
        const left = (users.get(key) ?? 1) - 1;
        if (left > 0) users.set(key, left);
        else {
          users.delete(key);
          wait(key);
        }
      });
    },
    close: () => timers.clearAll(),
  };
}

/** docs/requirements.md#client-3: of the pages that are open, only the newest few have a stream. */
export interface OpenPages {
  /** Opens a page until what it returns is called. */
  open(key: string): () => void;
}

function createOpenPages(options: {
  readonly maxOpen: number;
  readonly connect: (key: string) => () => void;
  readonly onChange: (keys: readonly string[]) => void;
}): OpenPages {
  let pages: readonly { readonly key: string }[] = [];
  const connected = new Map<string, () => void>();

  function update(): void {
    const newest = [...new Set(pages.map(({ key }) => key).toReversed())].slice(0, options.maxOpen);
    for (const [key, release] of connected) {
      if (newest.includes(key)) continue;
      connected.delete(key);
      release();
    }
    for (const key of newest) {
      if (!connected.has(key)) connected.set(key, options.connect(key));
    }
    options.onChange(newest);
  }

  return {
    open(key) {
      const page = { key };
      pages = [...pages, page];
      update();
      return once(() => {
        pages = pages.filter((one) => one !== page);
        update();
      });
    },
  };
}

/** A thread's name as one string, for maps and for what tabs say to each other. */
export function keyOf({ agentId, threadId, visibility }: ThreadName): string {
  return JSON.stringify(visibility === undefined ? [agentId, threadId] : [agentId, threadId, visibility]);
}

export function threadOf(key: string): ThreadName {
  const [agentId, threadId, visibility]: [string, string, Visibility?] = JSON.parse(key);
  return { agentId, threadId, visibility };
}
