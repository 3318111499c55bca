/** Ctrl-C, however it comes: as a signal, or as a key in a terminal that reads lines. */
export interface Leaving {
  readonly signal: AbortSignal;
  interrupt(): void;
  dispose(): void;
}

export function untilInterrupted(parent: AbortSignal): Leaving {
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

/** What the work gives; `undefined` when the person leaves first. */
export async function unlessLeft<Result>(
  { signal }: Pick<Leaving, "signal">,
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

/** What other commands take to mean the same thread. */
export interface Whereabouts {
  readonly agent: string;
  readonly thread: string;
  readonly flags: string;
}

function wordsFor({ agent, thread, flags }: Whereabouts): string {
  return `${shellWord(agent)} ${shellWord(thread)}${flags}`;
}

/** A graph that was compiled to pause before a node asks nothing: what makes it go on must be said. */
export function pausedNotice(place: Whereabouts): string {
  return `The graph paused before a node. Let it go on with: throughline ask-again ${wordsFor(place)}`;
}

/** What a person who leaves an open run must know. */
export function goesOnNotice(place: Whereabouts): string {
  const where = wordsFor(place);
  return [
    "You stopped watching; the run goes on.",
    `  See it again: throughline watch ${where}`,
    `  Stop it:      throughline stop ${where}`,
  ].join("\n");
}
/** A word as a shell takes it: quoted where it must be. */
export function shellWord(text: string): string {
  return /^[A-Za-z0-9_./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
