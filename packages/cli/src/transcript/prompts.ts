import { createInterface, type Interface } from "node:readline";
import type { Json } from "@throughline/ai-core";
import { UsageError } from "../command.js";
import type { Terminal } from "../terminal/terminal.js";
import { type Question, readAnswer } from "./interrupt.js";

/** Lines from a person or a pipe, in order, one for each prompt. */
export interface Answers {
  /** The next line; `undefined` at the end of input, and when the prompt was withdrawn. */
  next(prompt: string): Promise<string | undefined>;
  /** Takes the prompt back: what it asked for is no longer wanted. */
  withdraw(): void;
  close(): void;
}

/**
 * Reads nothing before it is asked to: a command that asks nothing must leave the input of the script around it alone. From
 * then on lines that come too early are kept, because a pipe delivers all of them at once.
 */
export function readAnswers({ input, output, isInteractive }: Terminal, onInterrupt: () => void): Answers {
  const lines: string[] = [];
  let reader: Interface | undefined;
  let waiting: ((line: string | undefined) => void) | undefined;
  let hasEnded = false;

  function give(line: string | undefined): void {
    const take = waiting;
    waiting = undefined;
    take?.(line);
  }

  function open(): Interface {
    const opened = createInterface({ input, ...(isInteractive && { output }), terminal: isInteractive });
    opened.on("line", (line) => {
      if (waiting) give(line);
      // What a person types while nothing is asked answers nothing.
      else if (!isInteractive) lines.push(line);
    });
    opened.on("close", () => {
      hasEnded = true;
      give(undefined);
    });
    // A terminal in raw mode turns Ctrl-C into this event instead of a signal.
    opened.on("SIGINT", onInterrupt);
    return opened;
  }

  return {
    next(prompt) {
      const kept = lines.shift();
      if (kept !== undefined) return Promise.resolve(kept);
      if (hasEnded) return Promise.resolve(undefined);
      reader ??= open();
      if (isInteractive) {
        reader.setPrompt(prompt);
        reader.prompt();
      }
      return new Promise((resolve) => {
        waiting = resolve;
      });
    },
    withdraw() {
      if (!waiting) return;
      // Back to where the prompt began, and away with what was typed.
      if (isInteractive) output.write("\r\u001b[K");
      give(undefined);
    },
    close() {
      hasEnded = true;
      reader?.close();
      give(undefined);
    },
  };
}

export interface GivenAnswer {
  readonly interruptId: string;
  readonly value: Json;
}

/** By interrupt, as a run takes them. */
export function answersOf(given: readonly GivenAnswer[]): Readonly<Record<string, Json>> {
  return Object.fromEntries(given.map(({ interruptId, value }) => [interruptId, value]));
}

/** Asks until every question has an answer; `undefined` when the input ends first, or the prompt is withdrawn. */
export async function askQuestions(
  terminal: Terminal,
  answers: Answers,
  questions: readonly Question[],
): Promise<readonly GivenAnswer[] | undefined> {
  const given: GivenAnswer[] = [];
  for (const [index, question] of questions.entries()) {
    // They stand above all together: which one is asked now must be seen.
    const which = questions.length > 1 ? ` ${index + 1} of ${questions.length}` : "";
    for (;;) {
      const line = await answers.next(terminal.paint({ tone: "strong", text: `answer${which}> ` }));
      if (line === undefined) return undefined;
      const answer = readAnswer(question, line);
      if ("value" in answer) {
        given.push({ interruptId: question.interruptId, value: answer.value });
        break;
      }
      if (!terminal.isInteractive) throw new UsageError(answer.problem);
      terminal.print(`${answer.problem}\n`);
    }
  }
  return given;
}
