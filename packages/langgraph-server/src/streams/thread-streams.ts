import {
  type Clock,
  type ExecutorType,
  isStoreOutage,
  type LogPosition,
  retryStore,
} from "@throughline/ai-core";
import { parseFrameCursor, type ThreadProjection } from "@throughline/reading";
import { isBeingDeleted, type RunRegistry, type ThreadLog, threadKey } from "@throughline/thread-log";
import type { FileLinks } from "../attachments/file-links.js";
import type { ServiceObserver } from "../operations/observer.js";
import type { ThreadAddress } from "../threads/thread-address.js";
import { createFrameEncoder, type FrameEncoder } from "./frame-encoders.js";
import { type JoinRunOptions, joinRun, type RunStartOptions, waitForRunStart } from "./join-run.js";
import { joinFromCursor, joinFromNothing, resolveCursor } from "./join-thread.js";
import { foldAt } from "./read-projection.js";
import type {
  EncoderOptions,
  FrameSink,
  SubscribeFrom,
  SubscribeOptions,
  Subscription,
  ThreadReading,
  ThreadStreams,
} from "./stream-types.js";
import { createSubscriber, type Subscriber } from "./subscriber.js";
import { openThreadBroadcast, type ThreadBroadcast } from "./thread-broadcast.js";
import type { LiveThread } from "./thread-follower.js";
import { acquireAt, type LiveThreadHandle, type LiveThreads } from "./thread-followers.js";

export interface ThreadStreamsOptions {
  readonly views: LiveThreads;
  readonly log: Pick<ThreadLog, "head" | "read" | "snapshot" | "terminal">;
  readonly registry: Pick<RunRegistry, "active" | "find" | "onStop">;
  readonly executorType: ExecutorType;
  readonly links: Pick<FileLinks, "linkTo">;
  readonly clock: Clock;
  readonly observer: ServiceObserver;
  /** R6: records an idle thread's checkpoint in the log if it is not there. `false` when there was nothing to write. */
  readonly reconcile: (thread: ThreadAddress, fold: ThreadProjection) => Promise<boolean>;
  /** R5: called while a thread has subscribers, so that external runs of it are followed; returns the function that ends that. */
  readonly attend?: ((thread: ThreadAddress) => () => void) | undefined;
}

interface OpenChannel {
  readonly channel: ThreadBroadcast;
  readonly taken: LiveThreadHandle;
  readonly unattend: (() => void) | undefined;
  readonly faces: Map<string, FrameEncoder>;
  subscribers: number;
}

/** How long a request waits for a store in an outage. */
const REQUEST_PATIENCE_MS = 10_000;

export function createThreadStreams(options: ThreadStreamsOptions): ThreadStreams {
  const { views, log, clock, observer } = options;
  const reconciling = new Map<string, Promise<void>>();
  const channels = new Map<string, OpenChannel>();
  const subscribers = new Set<Subscriber>();
  let closed = false;

  function enter(thread: ThreadAddress, from: SubscribeFrom): OpenChannel {
    const key = threadKey(thread.ref);
    const known = channels.get(key);
    // A view that has ended (its thread was deleted) takes its channel with it.
    const opened = known && known.channel.endedWith() === undefined ? known : open(thread, from);
    channels.set(key, opened);
    opened.subscribers += 1;
    return opened;
  }

  function open(thread: ThreadAddress, from: SubscribeFrom): OpenChannel {
    const returnsTo = from.kind === "cursor" ? parseFrameCursor(from.cursor)?.seq : undefined;
    const taken = views.acquire(thread, { returnsTo });
    return {
      channel: openThreadBroadcast(taken.view),
      taken,
      unattend: options.attend?.(thread),
      faces: new Map(),
      subscribers: 0,
    };
  }

  /** The face, one per thread and options: it is pure, and each would cost its subscriber a dozen closures. */
  function faceOf(
    { faces }: OpenChannel,
    { threadName, ref }: ThreadAddress,
    face: EncoderOptions,
  ): FrameEncoder {
    const key = JSON.stringify(face);
    const { executorType, links } = options;
    const linkTo = (base: string, id: string) => links.linkTo(base, { thread: ref, id });
    const known = faces.get(key) ?? createFrameEncoder(face, { threadName, executorType, linkTo });
    faces.set(key, known);
    return known;
  }

  function exit(opened: OpenChannel, thread: ThreadAddress): void {
    opened.subscribers -= 1;
    if (opened.subscribers > 0) return;
    const key = threadKey(thread.ref);
    if (channels.get(key) === opened) channels.delete(key);
    opened.unattend?.();
    opened.channel.close();
    opened.taken.release();
  }

  /** Waits until the view reaches the log's head: an existing one may lag behind what its reader has seen elsewhere. */
  async function reachHead(view: LiveThread, thread: ThreadAddress): Promise<void> {
    await view.reached(await log.head(thread.ref));
  }

  /** Reconciles once at a time per thread, for all concurrent subscribers. */
  function reconcile(view: LiveThread, thread: ThreadAddress): Promise<void> {
    const key = threadKey(thread.ref);
    const known = reconciling.get(key);
    if (known) return known;
    const begun = reconcileOnce(view, thread).finally(() => reconciling.delete(key));
    reconciling.set(key, begun);
    return begun;
  }

  async function reconcileOnce(view: LiveThread, thread: ThreadAddress): Promise<void> {
    // On a retry after an outage, an idle view has evicted its fold.
    await view.ready();
    const fold = view.fold();
    if (fold.run?.open || view.endedWith() !== undefined) return;
    if (await options.reconcile(thread, fold)) await reachHead(view, thread);
  }

  /** Shows the thread as the log has it where it can't be compared with its checkpoint. */
  async function tryToReconcile(
    view: LiveThread,
    thread: ThreadAddress,
    ask: (attempt: () => Promise<void>) => Promise<void>,
  ): Promise<void> {
    try {
      await ask(() => reconcile(view, thread));
    } catch (error) {
      if (isStoreOutage(error)) throw error;
      if (!isBeingDeleted(error))
        observer.failed("A thread could not be compared with its checkpoint.", error);
    }
  }

  async function read(thread: ThreadAddress, text: string | undefined): Promise<ThreadReading> {
    const ask = <Result>(attempt: () => Promise<Result>) =>
      retryStore({ clock, patienceMs: REQUEST_PATIENCE_MS }, attempt);
    // Read first: in an outage of the store the view would wait for it without end.
    const head = await ask(() => log.head(thread.ref));
    const compared = await acquireAt(views, thread, head);
    await tryToReconcile(compared.view, thread, ask).finally(compared.release);
    // Acquired again: meanwhile an idle view may have evicted its fold, or ended.
    const taken = await acquireAt(views, thread, undefined);
    const { view } = taken;
    try {
      const fold = view.fold();
      const position = view.position();
      const readOne = (after: LogPosition) => ask(() => log.read(thread.ref, after, 1));
      const cursor = text === undefined ? undefined : await resolveCursor(text, position, readOne);
      const isGood = cursor !== undefined && cursor !== "deleted";
      const before = isGood
        ? (view.recent.foldAt(cursor.seq) ?? (await ask(() => foldAt(log, thread.ref, cursor))))
        : undefined;
      return { fold, position, before };
    } finally {
      taken.release();
    }
  }

  function subscribe(thread: ThreadAddress, wanted: SubscribeOptions, sink: FrameSink): Subscription {
    const { from } = wanted;
    const opened = enter(thread, from);
    const wasOpen = opened.taken.wasOpen || opened.subscribers > 1;
    const { channel } = opened;
    const about: JoinRunOptions & RunStartOptions = {
      ...options,
      thread,
      channel,
      face: faceOf(opened, thread, wanted.face),
      options: wanted,
      sink,
    };
    const subscriber = createSubscriber(about);
    const { gone } = subscriber;
    subscribers.add(subscriber);
    gone.addEventListener(
      "abort",
      () => {
        subscribers.delete(subscriber);
        exit(opened, thread);
      },
      { once: true },
    );

    async function join(): Promise<void> {
      await channel.view.ready();
      if (wasOpen && !gone.aborted && from.kind !== "run") {
        await subscriber.ask(() => reachHead(channel.view, thread));
      }
      if (!gone.aborted && from.kind !== "run") {
        await tryToReconcile(channel.view, thread, subscriber.ask);
      }
      if (!gone.aborted && from.kind !== "run" && !wanted.follow) await waitForRunStart(about, subscriber);
      if (gone.aborted) return;
      await channel.view.ready();
      const unavailable = closed ? "shutting_down" : channel.endedWith();
      if (unavailable) return subscriber.end(unavailable);
      switch (from.kind) {
        case "nothing":
          return joinFromNothing(about, subscriber);
        case "cursor":
          return joinFromCursor(about, subscriber, from.cursor);
        case "run":
          return joinRun(about, subscriber, from);
      }
    }

    join().catch((error: unknown) => {
      if (gone.aborted) return;
      observer.failed("A subscriber could not be served.", error);
      subscriber.end("failed");
    });
    return subscriber;
  }

  return {
    subscribe,
    read,
    subscribers: () => subscribers.size,
    async close() {
      closed = true;
      for (const subscriber of [...subscribers]) subscriber.end("shutting_down");
    },
  };
}
