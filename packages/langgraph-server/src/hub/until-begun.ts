import type { Clock } from "@throughline/ai-core";
import type { RunRegistry } from "@throughline/thread-log";
import { untilElapsed } from "../drive/until-elapsed.js";
import type { RunWaiter } from "./thread-channel.js";
import type { WatcherLine, WatcherLineOptions } from "./watcher-line.js";

export interface UntilBegunOptions extends Pick<WatcherLineOptions, "thread" | "channel"> {
  readonly registry: Pick<RunRegistry, "active" | "find">;
  readonly clock: Clock;
}

/** A run may be ended by another instance before it began, of which nothing tells us. */
const LOOK_AGAIN_MS = 2_000;

/**
 * Resolves when the log tells of the run that holds the thread. Between the registry and the first entry a driver may die;
 * whoever comes then belongs to that run, which will be taken up, and not to a thread that looks idle.
 */
export async function untilBegun(about: UntilBegunOptions, line: WatcherLine): Promise<void> {
  const { channel, registry, thread } = about;
  if (channel.fold().run?.open) return;
  const active = await registry.active(thread.ref);
  if (!active || channel.fold().run?.run_id === active.runId || line.isGone()) return;
  await untilToldOrOver(about, line, active.runId);
}

function untilToldOrOver(
  { channel, registry, thread, clock }: UntilBegunOptions,
  line: WatcherLine,
  runId: string,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let waits = true;
    let pause: ReturnType<typeof untilElapsed> | undefined;
    const stop = () => {
      waits = false;
      pause?.cancel();
      channel.forget(waiter);
      resolve();
    };
    const waiter: RunWaiter = { runId, begin: stop, end: stop };
    const look = async () => {
      while (waits) {
        const run = await registry.find(thread.ref, { runId });
        if (run?.status !== "running") return stop();
        pause = untilElapsed(clock, LOOK_AGAIN_MS);
        await pause;
      }
    };
    channel.waitFor(waiter);
    line.onGone(stop);
    look().catch(reject);
  });
}
