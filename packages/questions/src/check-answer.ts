import type { Json } from "@throughline/ai-core";
import { checkSchema } from "./check-schema.js";
import { checkAgentInbox } from "./kinds/agent-inbox.js";
import { checkApproval } from "./kinds/approval.js";
import { checkApprovals } from "./kinds/approvals.js";
import { checkAskUser } from "./kinds/ask-user.js";
import { checkElicitation } from "./kinds/check-elicitation.js";
import { checkForm } from "./kinds/form.js";
import { type Mismatch, mismatch } from "./mismatch.js";
import type { Question } from "./question.js";

/**
 * `null` where the graph can take the answer, as far as the question tells. What the question leaves open is not refused:
 * many graphs understand more than they say.
 */
export function checkAnswer(question: Question, answer: Json): Mismatch | null {
  const problem = checkKind(question, answer);
  return problem ?? (question.schema ? checkSchema(question.schema, answer) : null);
}

function checkKind(question: Question, answer: Json): Mismatch | null {
  switch (question.kind) {
    case "approvals":
      return checkApprovals(question, answer);
    case "approval":
      return checkApproval(question, answer);
    case "agent_inbox":
      return checkAgentInbox(question, answer);
    case "elicitation":
      return checkElicitation(question, answer);
    case "ask_user":
      return checkAskUser(question, answer);
    case "form":
      return checkForm(question, answer);
    case "breakpoint":
      return answer === null ? null : mismatch("A breakpoint takes no answer: it goes on.");
    case "options":
    case "yes_no":
    case "draft":
    case "action":
    case "copilotkit":
    case "other":
      return null;
  }
}
