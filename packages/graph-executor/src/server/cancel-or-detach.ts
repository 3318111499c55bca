import { ThroughlineError } from "@throughline/ai-core";

/** Splits a run's one signal into two for its upstream reader: cancel the run, or only detach from it. */
export interface CancelOrDetach {
  readonly stop: AbortSignal;
  readonly leave: AbortSignal;
  /** Aborts as if the signal had. */
  giveUp(how: "stop" | "leave"): void;
  /** Stops listening to the signal. */
  release(): void;
}

export function cancelOrDetach(signal: AbortSignal): CancelOrDetach {
  const stop = new AbortController();
  const leave = new AbortController();
  const onAbort = () => (detachReason(signal) ? leave : stop).abort();
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
export function detachReason({ reason }: AbortSignal): ThroughlineError | undefined {
  return reason instanceof ThroughlineError && reason.code !== "cancelled" ? reason : undefined;
}
