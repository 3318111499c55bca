import type { OpenQuestion } from "@throughline/agent-react";
import type { Json } from "@throughline/ai-core";
import type { Question } from "@throughline/questions";
import { isJsonObject } from "../design/is-json-object";
import { isApprovable, rowsOf } from "./approval-rows";

const LONGEST = 80;
const PAST: Readonly<Record<string, string>> = {
  approve: "approved",
  accept: "approved",
  edit: "edited",
  reject: "rejected",
  ignore: "rejected",
  respond: "answered for",
  response: "answered for",
};

/** What a person decided, as the conversation records it: "chose KLM", "approved pay, rejected tell". */
export function answerWords(question: Question, answer: Json): string {
  if (isApprovable(question)) {
    const verbs = verbsIn(answer);
    const said = rowsOf(question).map(({ name }, at) => `${PAST[verbs[at] ?? ""] ?? "decided on"} ${name}`);
    return cut(said.join(", "));
  }
  if (question.kind === "options") {
    const chosen = question.options.find(({ value }) => JSON.stringify(value) === JSON.stringify(answer));
    if (chosen) return cut(`chose ${chosen.label}`);
  }
  if (answer === true) return "said yes";
  if (answer === false) return "said no";
  if (question.kind === "breakpoint") return "let it go on";
  return typeof answer === "string" && answer.trim() !== "" ? cut(`answered “${answer.trim()}”`) : "answered";
}

/** The same of several questions that were answered together. */
export function wordsOfAnswers(
  questions: readonly OpenQuestion[],
  answers: Readonly<Record<string, Json>>,
): string {
  return questions
    .flatMap(({ id, question }) => {
      const answer = answers[id];
      return answer === undefined ? [] : [answerWords(question, answer)];
    })
    .join("; ");
}

function verbsIn(answer: Json): readonly (string | undefined)[] {
  const list = isJsonObject(answer) && Array.isArray(answer.decisions) ? answer.decisions : answer;
  return (Array.isArray(list) ? list : [list]).map((one) =>
    isJsonObject(one) && typeof one.type === "string" ? one.type : undefined,
  );
}

function cut(words: string): string {
  return words.length > LONGEST ? `${words.slice(0, LONGEST - 1)}…` : words;
}
