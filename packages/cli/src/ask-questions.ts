import type { Json } from "@throughline/ai-core";
import type { Answers } from "./answers.js";
import type { Terminal } from "./terminal.js";
import { type Question, readAnswer } from "./transcript/question.js";
import { UsageError } from "./usage-error.js";

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
