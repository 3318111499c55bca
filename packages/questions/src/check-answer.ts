import type { Json } from "@throughline/ai-core";
import { checkSchema } from "./check-schema.js";
import { checkAgentInbox } from "./kinds/agent-inbox.js";
import { checkApproval } from "./kinds/approval.js";
import { checkApprovals } from "./kinds/approvals.js";
import { checkAskUser } from "./kinds/ask-user.js";
import { validateElicitation } from "./kinds/check-elicitation.js";
import { checkForm } from "./kinds/form.js";
import { mismatch, type ResponseProblem } from "./mismatch.js";
import type { Question } from "./question.js";

/**
 * Validates a response against its interrupt; `null` where the graph can accept it. Only what the interrupt specifies is
 * checked: many graphs understand more than they declare.
 */
export function validateResponse(interrupt: Question, response: Json): ResponseProblem | null {
  const problem = checkKind(interrupt, response);
  return problem ?? (interrupt.schema ? checkSchema(interrupt.schema, response) : null);
}

function checkKind(interrupt: Question, response: Json): ResponseProblem | null {
  switch (interrupt.kind) {
    case "approvals":
      return checkApprovals(interrupt, response);
    case "approval":
      return checkApproval(interrupt, response);
    case "agent_inbox":
      return checkAgentInbox(interrupt, response);
    case "elicitation":
      return validateElicitation(interrupt, response);
    case "ask_user":
      return checkAskUser(interrupt, response);
    case "form":
      return checkForm(interrupt, response);
    case "breakpoint":
      return response === null ? null : mismatch("A breakpoint takes no answer: it goes on.");
    case "options":
    case "yes_no":
    case "draft":
    case "action":
    case "copilotkit":
    case "other":
      return null;
  }
}
