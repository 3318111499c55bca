/** Ctrl-C, either as a signal or as a key in a terminal that reads lines. */
export interface Interruption {
  readonly signal: AbortSignal;
  interrupt(): void;
  dispose(): void;
}

export function untilInterrupted(parent: AbortSignal): Interruption {
  const controller = new AbortController();
  const interrupt = () => controller.abort();
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", interrupt);
  parent.addEventListener("abort", interrupt, { once: true });
  if (parent.aborted) interrupt();
  return {
    signal: controller.signal,
    interrupt,
    dispose() {
      process.removeListener("SIGINT", interrupt);
      process.removeListener("SIGTERM", interrupt);
      parent.removeEventListener("abort", interrupt);
    },
  };
}

/** The result of the work, or `undefined` when the person interrupts first. */
export async function raceInterrupt<Result>(
  { signal }: Pick<Interruption, "signal">,
  work: Promise<Result>,
): Promise<Result | undefined> {
  let leave = () => {};
  const left = new Promise<undefined>((resolve) => {
    leave = () => resolve(undefined);
    signal.addEventListener("abort", leave);
    if (signal.aborted) leave();
  });
  try {
    return await Promise.race([work, left]);
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

/** The arguments by which another command addresses the same thread. */
export interface ThreadReference {
  readonly agent: string;
  readonly thread: string;
  readonly flags: string;
}

function argumentsFor({ agent, thread, flags }: ThreadReference): string {
  return `${shellWord(agent)} ${shellWord(thread)}${flags}`;
}

/** The notice for a graph at a breakpoint. It raises no interrupt, so the notice names the command that continues it. */
export function pausedNotice(thread: ThreadReference): string {
  return `The graph paused before a node. Let it go on with: throughline ask-again ${argumentsFor(thread)}`;
}

/** The notice for a person who leaves an open run. */
export function goesOnNotice(thread: ThreadReference): string {
  const where = argumentsFor(thread);
  return [
    "You stopped watching; the run goes on.",
    `  See it again: throughline watch ${where}`,
    `  Stop it:      throughline stop ${where}`,
  ].join("\n");
}

/** A word as a shell accepts it, quoted where necessary. */
export function shellWord(text: string): string {
  return /^[A-Za-z0-9_./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
