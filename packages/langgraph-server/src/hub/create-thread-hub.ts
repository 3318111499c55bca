import type { Clock, ExecutorType } from "@throughline/ai-core";
import { parseFrameCursor, type ThreadFold } from "@throughline/stream-adapter";
import { type RunRegistry, type ThreadLog, threadKey } from "@throughline/thread-log";
import { isBeingDeleted } from "../thread/being-deleted.js";
import type { ServiceObserver } from "../thread/service-observer.js";
import type { ThreadAddress } from "../thread/thread-address.js";
import type { TakenView, ThreadViews } from "../thread/thread-views.js";
import { type JoinRunOptions, joinRun } from "./join-run.js";
import { joinFromCursor, joinFromNothing } from "./join-thread.js";
import { createSubscriber, type Subscriber } from "./subscriber.js";
import { openThreadChannel, type ThreadChannel } from "./thread-channel.js";
import type { FrameSink, SubscribeFrom, SubscribeOptions, Subscription, ThreadHub } from "./thread-hub.js";
import { type UntilBegunOptions, untilBegun } from "./until-begun.js";
import { createWireFace } from "./wire-face.js";

export interface ThreadHubOptions {
  readonly views: ThreadViews;
  readonly log: Pick<ThreadLog, "head" | "read" | "snapshot" | "terminal">;
  readonly registry: Pick<RunRegistry, "active" | "find" | "onStop">;
  readonly executorType: ExecutorType;
  readonly clock: Clock;
  readonly observer: ServiceObserver;
  /** R6: writes down what an idle thread's checkpoint says, if the log does not. `false` when there was nothing to write. */
  readonly reconcile: (thread: ThreadAddress, fold: ThreadFold) => Promise<boolean>;
  /** R5: called while a thread has subscribers, so that foreign runs of it are seen; gives what ends that. */
  readonly attend?: ((thread: ThreadAddress) => () => void) | undefined;
}

interface OpenChannel {
  readonly channel: ThreadChannel;
  readonly taken: TakenView;
  readonly unattend: (() => void) | undefined;
  subscribers: number;
  reconciling: Promise<void> | undefined;
}

export function createThreadHub(options: ThreadHubOptions): ThreadHub {
  const { views, log, observer } = options;
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
    const taken = views.take(thread, { returnsTo });
    return {
      channel: openThreadChannel(taken.view),
      taken,
      unattend: options.attend?.(thread),
      subscribers: 0,
      reconciling: undefined,
    };
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

  /** A view that was there before its subscriber may lag behind what that one has seen elsewhere. */
  async function reachHead({ channel }: OpenChannel, thread: ThreadAddress): Promise<void> {
    await channel.view.reached(await log.head(thread.ref));
  }

  /** Once at a time per thread, for however many come at once. */
  async function reconcile(opened: OpenChannel, thread: ThreadAddress): Promise<void> {
    opened.reconciling ??= reconcileOnce(opened, thread).finally(() => {
      opened.reconciling = undefined;
    });
    return opened.reconciling;
  }

  async function reconcileOnce(opened: OpenChannel, thread: ThreadAddress): Promise<void> {
    const fold = opened.channel.view.fold();
    if (fold.run?.open) return;
    if (await options.reconcile(thread, fold)) await reachHead(opened, thread);
  }

  async function tryToReconcile(
    opened: OpenChannel,
    thread: ThreadAddress,
    subscriber: Subscriber,
  ): Promise<void> {
    try {
      await subscriber.ask(() => reconcile(opened, thread));
    } catch (error) {
      if (isBeingDeleted(error) || subscriber.gone.aborted) return;
      // What the log says is still worth showing.
      observer.failed("A thread could not be compared with its checkpoint.", error);
    }
  }

  function subscribe(thread: ThreadAddress, wanted: SubscribeOptions, sink: FrameSink): Subscription {
    const { from } = wanted;
    const opened = enter(thread, from);
    const wasOpen = opened.taken.wasOpen || opened.subscribers > 1;
    const { channel } = opened;
    const about: JoinRunOptions & UntilBegunOptions = {
      ...options,
      thread,
      channel,
      face: createWireFace(wanted.face, {
        threadName: thread.threadName,
        executorType: options.executorType,
      }),
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
      await channel.view.ready;
      if (wasOpen && !gone.aborted && from.kind !== "run") {
        await subscriber.ask(() => reachHead(opened, thread));
      }
      if (!gone.aborted && from.kind !== "run") await tryToReconcile(opened, thread, subscriber);
      if (!gone.aborted && from.kind !== "run" && !wanted.follow) await untilBegun(about, subscriber);
      if (gone.aborted) return;
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
    subscribers: () => subscribers.size,
    async close() {
      closed = true;
      for (const subscriber of [...subscribers]) subscriber.end("shutting_down");
    },
  };
}
