import { LANGGRAPH_CATALOG } from "../catalog.js";
import { readAnswers } from "./answers.js";
import { readArguments } from "./arguments.js";
import { helpText } from "./help.js";
import { runSession } from "./session.js";
import { styleFor } from "./style.js";
import { UsageError } from "./usage-error.js";

/** Runs the command and gives its exit code: 0 done, 1 the graph failed, 2 called the wrong way, 130 stopped. */
export async function main(argv: readonly string[]): Promise<number> {
  const stopped = new AbortController();
  const stop = () => stopped.abort();
  process.once("SIGINT", stop);
  // `| head` closes the pipe: its reader has seen enough.
  process.stdout.once("error", () => process.exit(0));
  try {
    const code = await Promise.race([run(argv, stopped.signal), untilStopped(stopped.signal)]);
    if (code === 130) process.stdout.write("\n");
    return code;
  } finally {
    process.removeListener("SIGINT", stop);
  }

  async function run(args: readonly string[], signal: AbortSignal): Promise<number> {
    try {
      const read = readArguments(args, LANGGRAPH_CATALOG);
      if (read === "help") {
        process.stdout.write(helpText(LANGGRAPH_CATALOG));
        return 0;
      }
      const answers = readAnswers(process.stdin, process.stdout, stop);
      try {
        await runSession({
          args: read,
          answers,
          write: (text) => process.stdout.write(text),
          style: styleFor(process.stdout, process.env),
          signal,
        });
      } finally {
        answers.close();
      }
      return 0;
    } catch (error) {
      if (signal.aborted) return 130;
      const reason = error instanceof Error ? error.message : String(error);
      process.stderr.write(`${reason.replace(/\s+/g, " ")}\n`);
      return error instanceof UsageError ? 2 : 1;
    }
  }
}

/** A prompt that waits for a line, or a tool that ignores its signal, must not keep Ctrl-C waiting. */
function untilStopped(signal: AbortSignal): Promise<number> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(130), { once: true }));
}
