import { type Interrupt, type Json, ThroughlineError } from "@throughline/ai-core";
import { adaptAnswer, checkAnswer, dismissAnswer, type Question, readQuestion } from "@throughline/questions";
import type { ThreadFold } from "@throughline/reading";

/** The mark that graphs written for AG-UI know a dismissed question by, and executors a declined one. */
const DISMISSED = "__agui_cancelled__";

/**
 * Answers in the spelling of the graph that asked. Throws `answer_mismatch` for one that the graph can't take: LangGraph
 * stores an answer before the graph looks at it, and a wrong one would make the asking node fail for ever. An answer to a
 * question that is not open goes on as it is: the registry refuses it, or finds that it was given before.
 */
export function acceptAnswers(
  { interrupts }: Pick<ThreadFold, "interrupts">,
  answers: Readonly<Record<string, Json>>,
): Readonly<Record<string, Json>> {
  return Object.fromEntries(
    Object.entries(answers).map(([interruptId, answer]) => {
      const asked = interrupts.find(({ interrupt_id }) => interrupt_id === interruptId);
      return [interruptId, asked ? acceptAnswer(asked, answer) : answer];
    }),
  );
}

function acceptAnswer({ interrupt_id, value, response_schema }: Interrupt, given: Json): Json {
  const question = readQuestion(value, response_schema);
  const answer = isDismissed(given) ? dismissed(question, given) : adaptAnswer(question, given);
  const mismatch = checkAnswer(question, answer);
  if (!mismatch) return answer;
  const where = mismatch.path === "" ? "" : `${mismatch.path}: `;
  throw new ThroughlineError(
    "answer_mismatch",
    `The answer does not fit the question. ${where}${mismatch.problem}`,
    {
      details: { interruptId: interrupt_id, problem: mismatch.problem, path: mismatch.path },
    },
  );
}

type Mark = { [DISMISSED]: true; [key: string]: Json };

function isDismissed(answer: Json): answer is Mark {
  return (
    typeof answer === "object" && answer !== null && !Array.isArray(answer) && answer[DISMISSED] === true
  );
}

/** The mark stays beside the question's own words where it can: by it a graph that was changed sets the question aside. */
function dismissed(question: Question, mark: Mark): Json {
  const own = dismissAnswer(question);
  if (own === undefined) return mark;
  return typeof own === "object" && own !== null && !Array.isArray(own) ? { ...mark, ...own } : own;
}
