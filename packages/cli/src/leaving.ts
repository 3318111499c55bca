import { shellWord } from "./shell-word.js";

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

/** What a person who leaves an open run must know. */
export function goesOnNotice({
  agent,
  thread,
  flags,
}: {
  agent: string;
  thread: string;
  flags: string;
}): string {
  const where = `${shellWord(agent)} ${shellWord(thread)}${flags}`;
  return [
    "You stopped watching; the run goes on.",
    `  See it again: throughline watch ${where}`,
    `  Stop it:      throughline stop ${where}`,
  ].join("\n");
}
