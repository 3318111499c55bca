import type { OpenQuestion } from "@throughline/agent-react";
import type { Json } from "@throughline/ai-core";
import { approveAll, isApprovable } from "./approval-rows";

/** Answers that approve every call of every question; `undefined` where one of them asks for something else. */
export function approvalsOf(questions: readonly OpenQuestion[]): Readonly<Record<string, Json>> | undefined {
  const answers: Record<string, Json> = {};
  for (const { id, question } of questions) {
    const answer = isApprovable(question) ? approveAll(question) : undefined;
    if (answer === undefined) return undefined;
    answers[id] = answer;
  }
  return answers;
}
