import type { Clock, ExecutorType, GraphStatePort, Timer } from "@throughline/ai-core";
import { parseFrameCursor, type ThreadFold } from "@throughline/stream-adapter";
import { type RunRegistry, type ThreadLog, threadKey } from "@throughline/thread-log";
import { isBeingDeleted } from "../deletion/deletion-gate.js";
import type { ServiceObserver } from "../drive/service-observer.js";
import { type JoinRunOptions, joinRun } from "./join-run.js";
import { joinFromCursor, joinFromNothing } from "./join-thread.js";
import type { ThreadAddress } from "./thread-address.js";
import { openThreadChannel, type ThreadChannel } from "./thread-channel.js";
import type { ThreadHub, Watch, WatchFrom, WatchOptions, WatchSink } from "./thread-hub.js";
import { type UntilBegunOptions, untilBegun } from "./until-begun.js";
import { createWatcherLine, type WatcherLine } from "./watcher-line.js";
import { createWireFace } from "./wire-face.js";

export interface ThreadHubOptions {
  readonly log: ThreadLog;
  readonly registry: Pick<RunRegistry, "active" | "find" | "onStop">;
  readonly state: GraphStatePort;
  readonly executorType: ExecutorType;
  readonly clock: Clock;
  readonly observer: ServiceObserver;
  /** R6: writes down what an idle thread's checkpoint says, if the log does not. `false` when there was nothing to write. */
  readonly settle: (thread: ThreadAddress, fold: ThreadFold) => Promise<boolean>;
  /** R5: called while somebody watches a thread, so that what others do to it upstream is seen; gives what ends that. */
  readonly attend?: ((thread: ThreadAddress) => () => void) | undefined;
  /** How long a thread stays in memory after the last who watched it has left. Default 30 s. */
  readonly lingerMs?: number | undefined;
}

interface OpenChannel {
  readonly channel: ThreadChannel;
  watchers: number;
  settling: Promise<void> | undefined;
  /** Set while somebody watches. */
  leave: (() => void) | undefined;
}

/** Who lost the line mostly comes back within this, and then nothing of the thread has to be read. */
const DEFAULT_LINGER_MS = 30_000;
/** Each takes as much memory as its state and its last entries. */
const MAX_LINGERING = 200;

export function createThreadHub(options: ThreadHubOptions): ThreadHub {
  const { log, clock, observer, lingerMs = DEFAULT_LINGER_MS } = options;
  const channels = new Map<string, OpenChannel>();
  /** Left first, first. */
  const lingering = new Map<OpenChannel, Timer>();
  const lines = new Set<WatcherLine>();
  let closed = false;

  function open(thread: ThreadAddress, from: WatchFrom): OpenChannel {
    const key = threadKey(thread.ref);
    const known = channels.get(key);
    if (known) return known;
    const opened: OpenChannel = {
      channel: openThreadChannel({
        ...options,
        thread,
        returnsTo: from.kind === "cursor" ? parseFrameCursor(from.cursor)?.seq : undefined,
        onClosed() {
          opened.leave?.();
          stopLingering(opened);
          if (channels.get(key) === opened) channels.delete(key);
        },
      }),
      watchers: 0,
      settling: undefined,
      leave: undefined,
    };
    channels.set(key, opened);
    return opened;
  }

  function enter(opened: OpenChannel, thread: ThreadAddress): void {
    stopLingering(opened);
    opened.watchers += 1;
    opened.leave ??= options.attend?.(thread);
  }

  function exit(opened: OpenChannel): void {
    opened.watchers -= 1;
    if (opened.watchers > 0) return;
    opened.leave?.();
    opened.leave = undefined;
    if (closed || lingerMs === 0) opened.channel.close("done");
    else if (opened.channel.closedWith() === undefined) linger(opened);
  }

  function linger(opened: OpenChannel): void {
    lingering.set(
      opened,
      clock.schedule(lingerMs, () => opened.channel.close("done")),
    );
    const [first] = lingering.keys();
    if (lingering.size > MAX_LINGERING) first?.channel.close("done");
  }

  function stopLingering(opened: OpenChannel): void {
    lingering.get(opened)?.cancel();
    lingering.delete(opened);
  }

  /** A channel that was there before its watcher may lag behind what that one has seen elsewhere. */
  async function catchUp({ channel }: OpenChannel, thread: ThreadAddress): Promise<void> {
    const head = await log.head(thread.ref);
    if (head) await channel.reached(head);
  }

  /** Once at a time per thread, for however many come at once. */
  async function settle(opened: OpenChannel, thread: ThreadAddress): Promise<void> {
    opened.settling ??= settleOnce(opened.channel, thread).finally(() => {
      opened.settling = undefined;
    });
    return opened.settling;
  }

  async function settleOnce(channel: ThreadChannel, thread: ThreadAddress): Promise<void> {
    const fold = channel.fold();
    if (fold.run?.open) return;
    try {
      if (!(await options.settle(thread, fold))) return;
      const head = await log.head(thread.ref);
      if (head) await channel.reached(head);
    } catch (error) {
      if (isBeingDeleted(error)) return;
      // What the log says is still worth showing.
      observer.failed("A thread could not be compared with its checkpoint.", error);
    }
  }

  function watch(thread: ThreadAddress, watching: WatchOptions, sink: WatchSink): Watch {
    const wasOpen = channels.has(threadKey(thread.ref));
    const { from } = watching;
    const opened = open(thread, from);
    const { channel } = opened;
    const about: JoinRunOptions & UntilBegunOptions = {
      ...options,
      thread,
      channel,
      face: createWireFace(watching.face, {
        threadName: thread.threadName,
        executorType: options.executorType,
      }),
      options: watching,
      sink,
    };
    const line = createWatcherLine(about);
    enter(opened, thread);
    lines.add(line);
    line.onGone(() => {
      lines.delete(line);
      exit(opened);
    });

    async function join(): Promise<void> {
      await channel.ready;
      if (wasOpen && from.kind !== "run") await catchUp(opened, thread);
      if (!line.isGone() && from.kind !== "run") await settle(opened, thread);
      if (!line.isGone() && from.kind !== "run" && !watching.follow) await untilBegun(about, line);
      if (line.isGone()) return;
      const unavailable = closed ? "shutting_down" : channel.closedWith();
      if (unavailable) return line.end(unavailable);
      switch (from.kind) {
        case "nothing":
          return joinFromNothing(about, line);
        case "cursor":
          return joinFromCursor(about, line, from.cursor);
        case "run":
          return joinRun(about, line, from);
      }
    }

    join().catch((error: unknown) => {
      observer.failed("A watcher could not be served.", error);
      line.end("failed");
    });
    return line;
  }

  return {
    watch,
    watchers: () => lines.size,
    async close() {
      closed = true;
      for (const line of [...lines]) line.end("shutting_down");
      for (const { channel } of [...lingering.keys()]) channel.close("shutting_down");
    },
  };
}
