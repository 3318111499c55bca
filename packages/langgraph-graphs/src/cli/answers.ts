import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

/** Lines from a person or a pipe, in order, one for each prompt. */
export interface Answers {
  readonly interactive: boolean;
  /** The next line, or `undefined` at the end of input. */
  next(prompt: string): Promise<string | undefined>;
  close(): void;
}

/** Keeps lines that come before they are asked for: a pipe delivers all of them at once. */
export function readAnswers(
  input: Readable & { readonly isTTY?: boolean },
  output: Writable,
  onInterrupt: () => void,
): Answers {
  const interactive = input.isTTY === true;
  const waiting: ((line: string | undefined) => void)[] = [];
  const lines: string[] = [];
  let ended = false;
  const reader = createInterface({ input, ...(interactive ? { output } : {}), terminal: interactive });
  reader.on("line", (line) => {
    const take = waiting.shift();
    if (take) take(line);
    else lines.push(line);
  });
  reader.on("close", () => {
    ended = true;
    for (const take of waiting.splice(0)) take(undefined);
  });
  // A terminal in raw mode turns Ctrl-C into this event instead of a signal.
  reader.on("SIGINT", onInterrupt);
  return {
    interactive,
    next(prompt) {
      const kept = lines.shift();
      if (kept !== undefined) return Promise.resolve(kept);
      if (ended) return Promise.resolve(undefined);
      if (interactive) {
        reader.setPrompt(prompt);
        reader.prompt();
      }
      return new Promise((resolve) => waiting.push(resolve));
    },
    close() {
      reader.close();
    },
  };
}
