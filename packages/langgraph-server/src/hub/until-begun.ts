import type { Clock } from "@throughline/ai-core";
import type { RunRegistry } from "@throughline/thread-log";
import { untilElapsed } from "../timing/until-elapsed.js";
import type { Subscriber, SubscriberOptions } from "./subscriber.js";
import type { RunWaiter } from "./thread-channel.js";

export interface UntilBegunOptions extends Pick<SubscriberOptions, "thread" | "channel"> {
  readonly registry: Pick<RunRegistry, "active" | "find">;
  readonly clock: Clock;
}

/** Another instance may end a run before it began, of which nothing tells us. */
const POLL_MS = 2_000;

/**
 * Resolves when the log tells of the run that holds the thread. Between the registry and the first entry a driver may die; a
 * subscriber that comes then belongs to that run, which will be recovered, and not to a thread that looks idle.
 */
export async function untilBegun(about: UntilBegunOptions, subscriber: Subscriber): Promise<void> {
  const { registry, thread } = about;
  const { view } = about.channel;
  if (view.fold().run?.open) return;
  const active = await subscriber.ask(() => registry.active(thread.ref));
  if (!active || view.fold().run?.run_id === active.runId || subscriber.gone.aborted) return;
  await untilToldOrOver(about, subscriber, active.runId);
}

function untilToldOrOver(
  { channel, registry, thread, clock }: UntilBegunOptions,
  subscriber: Subscriber,
  runId: string,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let waits = true;
    let pause: ReturnType<typeof untilElapsed> | undefined;
    const stop = () => {
      waits = false;
      pause?.cancel();
      channel.drop(waiter);
      resolve();
    };
    const waiter: RunWaiter = { runId, begin: stop, end: stop };
    const poll = async () => {
      while (waits) {
        const run = await subscriber.ask(() => registry.find(thread.ref, { runId }));
        if (run?.status !== "running") return stop();
        pause = untilElapsed(clock, POLL_MS);
        await pause;
      }
    };
    channel.waitFor(waiter);
    subscriber.gone.addEventListener("abort", stop, { once: true });
    poll().catch(reject);
  });
}
