import { ThroughlineError } from "@throughline/ai-core";

/** What a run's one signal asks of its reader upstream: to cancel the run, or only to let go of it. */
export interface StopOrLeave {
  readonly stop: AbortSignal;
  readonly leave: AbortSignal;
  /** As if the signal had asked for it. */
  giveUp(how: "stop" | "leave"): void;
  /** Listens no more. */
  release(): void;
}

export function stopOrLeave(signal: AbortSignal): StopOrLeave {
  const stop = new AbortController();
  const leave = new AbortController();
  const onAbort = () => (leavingReason(signal) ? leave : stop).abort();
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  return {
    stop: stop.signal,
    leave: leave.signal,
    giveUp: (how) => (how === "stop" ? stop : leave).abort(),
    release: () => signal.removeEventListener("abort", onAbort),
  };
}

/** A lost lease or a shutdown ends our part only: the instance that recovers the run reads on upstream. */
export function leavingReason({ reason }: AbortSignal): ThroughlineError | undefined {
  return reason instanceof ThroughlineError && reason.code !== "cancelled" ? reason : undefined;
}
