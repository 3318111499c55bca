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
export function adaptAnswer(question: Question, given: Json): Json {
  const answer = typeof given === "string" && takesNoText(question) ? parsed(given) : given;
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
    case "yes_no":
      return answer === true ? question.yes : answer === false ? question.no : answer;
    case "options":
    case "draft":
    case "copilotkit":
    case "breakpoint":
    case "other":
      return answer;
  }
}

/** Clients of the legacy form send every answer as text. */
function takesNoText({ kind, schema }: Question): boolean {
  switch (kind) {
    case "approvals":
    case "approval":
    case "agent_inbox":
    case "elicitation":
    case "ask_user":
    case "action":
      return true;
    default:
      return schema !== undefined && typeof schema.type === "string" && schema.type !== "string";
  }
}

function parsed(text: string): Json {
  try {
    const value: Json = JSON.parse(text);
    return value;
  } catch {
    return text;
  }
}
