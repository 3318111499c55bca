import type { Clock } from "@throughline/ai-core";
import { isPending } from "../commands/agent-command-scheduler.js";
import type { createPendingSyncs } from "../commands/pending-sync.js";
import type { LogReader } from "../connection/thread-stream.js";
import type { ThreadName, Visibility } from "../transport/agent-service.js";
import { createNamedTimers } from "./environment.js";
import { type FrameScheduler, once } from "./store.js";
import type { ControllerHooks, ThreadController } from "./thread-controller.js";
import { createThreadHandle, type ThreadHandle, type ThreadHandleParts } from "./thread-handle.js";

export interface RegisteredThread extends ThreadHandleParts {
  readonly controller: ThreadController;
}

export interface ThreadRegistryOptions {
  readonly clock: Clock;
  readonly schedule: FrameScheduler;
  readonly maxOpen: number;
  readonly gcTime: number;
  readonly syncs: ReturnType<typeof createPendingSyncs>;
  readonly createController: (key: string, hooks: ControllerHooks) => ThreadController;
  readonly readLog: (key: string, reader: LogReader) => () => void;
  /** The UI state of a thread changed. */
  readonly onChange: (key: string, controller: ThreadController) => void;
  /** The set of pages that have a stream changed. */
  readonly onOpen: (keys: readonly string[]) => void;
  /** Whether the thread is needed by more than its own pages and commands. */
  readonly isWanted: (key: string) => boolean;
  readonly onEvict: (key: string) => void;
}

/** The threads of a client: each is created on use, and evicted `gcTime` after its last use. */
export function createThreadRegistry(options: ThreadRegistryOptions) {
  const { clock, schedule, syncs } = options;
  const threads = new Map<string, RegisteredThread>();
  /** Handles by thread, for as long as the page references them: an evicted thread is recreated when its handle is used. */
  const handles = new Map<string, WeakRef<ThreadHandle>>();
  const partsOf = new WeakMap<ThreadHandle, ThreadHandleParts>();
  const unused = new FinalizationRegistry<string>((key) => {
    if (!handles.get(key)?.deref()) handles.delete(key);
  });
  let closed = false;

  const pages = createOpenPages({
    maxOpen: options.maxOpen,
    // A page may be released after the client was closed; that must not open the next newest page.
    connect: (key) => (closed ? () => {} : acquire(key).controller.open()),
    onChange: options.onOpen,
  });
  const eviction = createThreadEviction({
    clock,
    gcTime: options.gcTime,
    isUsed(key) {
      const pending = threads.get(key)?.controller.pending();
      return (pending && isPending(pending)) || options.isWanted(key);
    },
    evict(key) {
      const evicted = threads.get(key);
      threads.delete(key);
      evicted?.controller.close();
      options.onEvict(key);
      evicted?.forget();
    },
  });

  function handleOf(key: string): ThreadHandleParts {
    const known = handles.get(key)?.deref();
    const cached = known && partsOf.get(known);
    if (cached) return cached;
    const parts = createThreadHandle({
      ...parseThreadKey(key),
      controller: () => acquire(key).controller,
      clock,
      schedule,
      open: () => retaining(key, pages.open(key)),
      readLog: (reader) => retaining(key, options.readLog(key, reader)),
      retain: () => eviction.retain(key),
    });
    handles.set(key, new WeakRef(parts.handle));
    partsOf.set(parts.handle, parts);
    unused.register(parts.handle, key);
    return parts;
  }

  function retaining(key: string, leave: () => void): () => void {
    const release = eviction.retain(key);
    return () => {
      leave();
      release();
    };
  }

  function acquire(key: string): RegisteredThread {
    const known = threads.get(key);
    if (known) return known;
    const parts = handleOf(key);
    const controller = options.createController(key, {
      onChange() {
        parts.changed();
        const now = threads.get(key);
        if (now) options.onChange(key, now.controller);
      },
      onShown: (input) => parts.shown(input),
    });
    const created: RegisteredThread = { ...parts, controller };
    threads.set(key, created);
    if (closed) {
      controller.close();
      return created;
    }
    eviction.schedule(key);
    // A `sync` that was unacknowledged when the page was left. Resent under its id, it is the same command.
    const owed = syncs.load(key);
    if (owed) void controller.submit(owed);
    return created;
  }

  return {
    acquire,
    all: (): ReadonlyMap<string, RegisteredThread> => threads,
    close(): void {
      closed = true;
      eviction.close();
      for (const { controller, close } of threads.values()) {
        controller.close();
        close();
      }
    },
  };
}

export interface ThreadEvictionOptions {
  readonly clock: Clock;
  /** How long an unused thread is retained. `Infinity`: for ever. */
  readonly gcTime: number;
  /** Whether the thread is in use although its reference count is 0. */
  readonly isUsed: (key: string) => boolean;
  readonly evict: (key: string) => void;
}

/** Counts references to each thread, and evicts it `gcTime` after the last one was released. */
function createThreadEviction({ clock, gcTime, isUsed, evict }: ThreadEvictionOptions) {
  const users = new Map<string, number>();
  const timers = createNamedTimers<string>(clock, (key) => {
    if (isUsed(key)) schedule(key);
    else evict(key);
  });

  function schedule(key: string): void {
    if (!users.has(key)) timers.set(key, gcTime);
  }

  return {
    /** Schedules the eviction of a thread that has no reference yet. */
    schedule,
    retain(key: string): () => void {
      users.set(key, (users.get(key) ?? 0) + 1);
      timers.set(key, undefined);
      return once(() => {
        const left = (users.get(key) ?? 1) - 1;
        if (left > 0) users.set(key, left);
        else {
          users.delete(key);
          schedule(key);
        }
      });
    },
    close: () => timers.clearAll(),
  };
}

/** The open pages. Only the newest `maxOpen` of them have a stream (docs/requirements.md#client-3). */
export interface OpenPages {
  /** Opens a page. Returns a function that closes it. */
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

/** A thread's locator as one string, for maps and for messages between tabs. */
export function threadKey({ agentId, threadId, visibility }: ThreadName): string {
  return JSON.stringify(visibility === undefined ? [agentId, threadId] : [agentId, threadId, visibility]);
}

export function parseThreadKey(key: string): ThreadName {
  const [agentId, threadId, visibility]: [string, string, Visibility?] = JSON.parse(key);
  return { agentId, threadId, visibility };
}
