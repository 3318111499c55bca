import type { Json } from "@throughline/ai-core";
import { adaptAction } from "./kinds/action.js";
import { adaptAgentInbox } from "./kinds/agent-inbox.js";
import { adaptApproval } from "./kinds/approval.js";
import { adaptApprovals } from "./kinds/approvals.js";
import { adaptAskUser } from "./kinds/ask-user.js";
import { adaptElicitation } from "./kinds/elicitation.js";
import { adaptForm } from "./kinds/form.js";
import { isObject } from "./plain.js";
import type { Question } from "./question.js";

/**
 * An answer in the spelling of the graph, from whatever form a client sends it in: the graph's own, its other spelling, or
 * what the schema of `askForm` asks for. What fits none of them comes back as it is.
 */
export function adaptAnswer(question: Question, answer: Json): Json {
  switch (question.kind) {
    case "approvals":
      return adaptApprovals(question, answer);
    case "approval":
      return adaptApproval(question, answer);
    case "agent_inbox":
      return adaptAgentInbox(question, answer);
    case "elicitation":
      return adaptElicitation(question, answer);
    case "ask_user":
      return adaptAskUser(question, answer);
    case "form":
      return adaptForm(question, answer);
    case "action":
      return isObject(answer) ? adaptAction(question, answer) : answer;
    case "options":
    case "yes_no":
    case "draft":
    case "copilotkit":
    case "breakpoint":
    case "other":
      return answer;
  }
}
