import { createInterface, type Interface } from "node:readline";
import type { Json } from "@throughline/ai-core";
import { UsageError } from "../command.js";
import type { Terminal } from "../terminal/terminal.js";
import { readAnswer, type TerminalInterrupt } from "./interrupt.js";

/** Lines from a person or a pipe, in order, one for each prompt. */
export interface Answers {
  /** The next line; `undefined` at the end of input, and when the prompt was withdrawn. */
  next(prompt: string): Promise<string | undefined>;
  /** Withdraws the prompt: its interrupt is no longer open. */
  withdraw(): void;
  close(): void;
}

/**
 * Reads no input before the first prompt: a command that prompts for nothing must leave the input of the script around it alone.
 * From then on early lines are buffered, because a pipe delivers all of them at once.
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
      // A line that a person types without a prompt is dropped.
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
      const buffered = lines.shift();
      if (buffered !== undefined) return Promise.resolve(buffered);
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
      // Moves back to where the prompt began and clears what was typed.
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

/** The answers by interrupt id, as the input of a run has them. */
export function answersOf(given: readonly GivenAnswer[]): Readonly<Record<string, Json>> {
  return Object.fromEntries(given.map(({ interruptId, value }) => [interruptId, value]));
}

/** Asks until every question has an answer; `undefined` when the input ends first, or the prompt is withdrawn. */
export async function askQuestions(
  terminal: Terminal,
  answers: Answers,
  questions: readonly TerminalInterrupt[],
): Promise<readonly GivenAnswer[] | undefined> {
  const given: GivenAnswer[] = [];
  for (const [index, question] of questions.entries()) {
    // All questions are printed above together, so the prompt numbers the current one.
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
